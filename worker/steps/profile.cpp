#include "worker/steps/step_functions.h"

namespace enginery {

Result<StepOutputs> profile_step(const StepContext& step) {
  const Progress begun{doing("profile"), 0, 1};
  step.hooks.progress(begun);
  TRY(const auto content, input_named(step, "content"));
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(const Profile profile, profile_content(content, *target));
  if (!profile.skipped.empty()) step.hooks.log("not timed: " + profile.skipped);
  TRY(const Bytes provenance, write_provenance(make_provenance(step, sha256(*content), profile)));
  StepOutputs out;
  out.blobs["unsigned"] = *content + provenance;
  out.metrics = {{"latency_ms", profile.median_us / 1000},
                 {"device_latency_ms", profile.device_median_us / 1000}};
  return out;
}

}  // namespace enginery
