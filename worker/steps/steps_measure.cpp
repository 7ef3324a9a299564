// The two steps that measure: tune and profile.
#include <chrono>

#include "tuner/timing/read_only_store.h"
#include "worker/steps/step_support.h"

namespace enginery {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

// The tuner's progress with an ETA from what is done of the phase so far.
std::function<void(const TunerProgress&)> with_eta(const StepHooks& hooks) {
  return [&hooks, current = std::string(),
          start = steady_clock::now()](const TunerProgress& p) mutable {
    if (p.phase != current) current = p.phase, start = steady_clock::now();
    const std::string phase = p.phase == "tune" ? doing("tune") : doing("tune") + " " + p.phase;
    const double each = p.done > 0 ? seconds_since(start) / p.done : 0;
    hooks.progress({phase, static_cast<uint64_t>(p.done), static_cast<uint64_t>(p.total),
                    each * (p.total - p.done)});
  };
}

}  // namespace

Result<StepOutputs> tune_step(BuildSession& bench, TimingStore& store, const TuneSettings& settings,
                              const StepHooks& hooks) {
  hooks.progress({doing("tune"), 0, 0});
  TRY(const Target* target, bench.target());
  TRY(DeviceLock lock, lock_device(target->device->info(), hooks));
  hooks.progress({doing("tune"), 0, 0});
  TRY(const Network* network, bench.network());
  TunerOptions options;
  options.level = bench.spec().options.level;
  options.allowed = bench.spec().options.precisions;
  options.aux_streams = bench.spec().options.aux_streams;
  options.one_by_one = settings.one_by_one;
  options.worker = settings.worker;
  options.progress = with_eta(hooks);
  options.cancelled = hooks.cancelled;
  options.log = hooks.log;
  options.trial = settings.trial;
  const auto start = steady_clock::now();
  ReadOnlyTimingStore read_only(store);
  TimingStore& timings = settings.error_on_miss ? read_only : store;
  Tuner tuner(*target->device, target->sources, timings, options);
  TRY(Assignment assignment, tuner.select(*network));
  const TunerCounts& counts = tuner.counts();
  StepOutputs out;
  out.blobs["choices"] = to_json(to_choices(*network, assignment, tuner.node_us()));
  out.metrics = {{"timings_measured", static_cast<double>(counts.timings_measured)},
                 {"timings_reused", static_cast<double>(counts.timings_reused)},
                 {"problems", static_cast<double>(counts.problems)},
                 {"tuning_s", seconds_since(start)},
                 {"tune_preparing_s", counts.preparing_s},
                 {"tune_racing_s", counts.racing_s},
                 {"tune_networks_s", counts.networks_s}};
  hooks.log("tuned " + std::to_string(counts.problems) +
            " problems: " + std::to_string(counts.timings_measured) + " timings measured, " +
            std::to_string(counts.timings_reused) + " reused");
  return out;
}

Result<StepOutputs> profile_step(BuildSession& bench, const StepInputs& inputs,
                                 const std::string& worker, const StepHooks& hooks) {
  hooks.progress({doing("profile"), 0, 1});
  TRY(auto content, input_named(inputs, "content"));
  TRY(const Target* target, bench.target());
  TRY(DeviceLock lock, lock_device(target->device->info(), hooks));
  hooks.progress({doing("profile"), 0, 1});
  TRY(Profile profile, profile_content(content, *target));
  TRY(Bytes provenance,
      write_provenance(make_provenance(bench, sha256(*content), inputs, worker, profile)));
  StepOutputs out;
  out.blobs["unsigned"] = *content + provenance;
  out.metrics = {{"latency_ms", profile.median_us / 1000},
                 {"device_latency_ms", profile.device_median_us / 1000}};
  return out;
}

}  // namespace enginery
