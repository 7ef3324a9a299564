#include "cli/farm/submission.h"

#include <algorithm>

#include "cli/output/progress.h"
#include "engine/device/sku_table.h"
#include "engine/options/target_options.h"
#include "engine/options/toolchain.h"
#include "pipeline/keys.h"

namespace enginery {
namespace {

DeviceKind kind_of(const std::string& sku) {
  const auto row = resolve_sku_name(sku);
  return row ? row->kind : DeviceKind::cpu;
}

const SkuView* find_sku(const std::vector<SkuView>& skus, const std::string& name) {
  const auto found =
      std::find_if(skus.begin(), skus.end(), [&](const SkuView& view) { return view.sku == name; });
  return found == skus.end() ? nullptr : &*found;
}

TargetRequest make_target(const KeySubject& of_job, const std::string& sku,
                          const SubmitOptions& submit, const std::vector<SkuView>& skus) {
  const SkuView* of_farm = find_sku(skus, sku);
  TargetRequest target;
  target.sku = sku;
  // Untuned is the second choice: where the farm has the device, it tunes.
  target.provisional = submit.provisional && !of_farm;
  if (of_farm && !target.provisional) target.toolchain = of_farm->toolchain;
  KeySubject subject = of_job;
  subject.sku = sku;
  subject.toolchain =
      target.toolchain.empty() ? toolchain_text(kind_of(sku), nullptr) : target.toolchain;
  subject.options = options_for(sku, of_job.options);
  subject.options.provisional = target.provisional;
  subject.cpu = is_cpu_sku(sku);
  target.engine_key = engine_key(subject);
  if (!target.provisional) target.tune_key = tune_key(subject);
  return target;
}

}  // namespace

SubmitRequest make_submit_request(const PackedModel& packed, const LoadedModel& model,
                                  const BuildOptions& options, const SubmitOptions& submit,
                                  const std::vector<SkuView>& skus) {
  SubmitRequest request;
  request.name = packed.name;
  request.model_name = packed.file;
  request.model = packed.digest;
  request.options = to_text(options);
  const auto bring = [&](std::string_view name, const std::shared_ptr<const Bytes>& bytes) {
    if (bytes) request.inputs.push_back({std::string(name), sha256(*bytes), bytes->size()});
  };
  bring(kCalibrationInput, packed.calibration);
  bring(kCalibDataInput, packed.calib_data);
  bring(kHeldOutInput, packed.held_out);
  request.validate_key = validate_key(packed.digest, options, reader_name());
  const KeySubject of_job{packed.digest, model.structure_digest, packed.name, "", "", options};
  for (const std::string& sku : submit.targets)
    request.targets.push_back(make_target(of_job, sku, submit, skus));
  request.priority = submit.priority;
  request.tags = submit.tags;
  request.rebuild = submit.rebuild;
  request.wait_for_workers = submit.wait_for_workers;
  request.dry_run = submit.dry_run;
  request.try_quarantined = submit.try_quarantined;
  request.tuning_workers = submit.tuning_workers;
  return request;
}

Result<JobView> send_submission(Client& client, const PackedModel& packed,
                                const SubmitRequest& request, Console& console) {
  if (!request.dry_run) {
    const SystemClock clock;
    ProgressDisplay display(console, clock);
    const TransferProgress progress = [&](uint64_t done, uint64_t total) {
      if (console.err_is_terminal())
        display.show({{packed.name, "uploading", done >> 10, total >> 10, 0, ""}});
    };
    TRY(const Digest digest, client.put_blob(as_bytes(packed.bytes), progress));
    ENSURE(digest == packed.digest, "put_blob named other bytes");
    for (const auto& more : {packed.calibration, packed.calib_data, packed.held_out}) {
      if (!more) continue;
      TRY([[maybe_unused]] const Digest sent, client.put_blob(as_bytes(*more), progress));
    }
  }
  return client.submit(request, make_request_id());
}

Result<JobView> follow_submission(Client& client, const PackedModel& packed,
                                  const SubmitRequest& request, const JobView& job,
                                  const FollowOptions& options, Console& console) {
  TRY(JobView ended, follow_job(client, job, options, console));
  if (ended.state != JobState::failed) return ended;
  const auto states = client.has_blobs({packed.digest});
  if (!states.ok() || states->empty() || states->front().present) return ended;
  console.note("the farm has lost the model; it is sent again");
  TRY(const JobView again, send_submission(client, packed, request, console));
  console.note("job " + again.id);
  return follow_job(client, again, options, console);
}

}  // namespace enginery
