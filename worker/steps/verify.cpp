#include "worker/steps/step_functions.h"

namespace enginery {

Result<StepOutputs> verify_step(const StepContext& step) {
  const Progress begun{doing("verify"), 0, 1};
  step.hooks.progress(begun);
  TRY(const auto content, input_named(step, "content"));
  TRY(const LoadedModel* model, step.session.model());
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(const Accuracy accuracy,
      verify_content(*model, content, *target, step.session.spec().options));
  StepOutputs out;
  out.metrics = {{"error", accuracy.worst_error}, {"bar", accuracy.bar}};
  if (!accuracy.skipped.empty()) {
    out.facts = {{"verify_skipped", accuracy.skipped}};
    step.hooks.log("not compared with the reference: " + accuracy.skipped);
    return out;
  }
  const std::string error = std::to_string(accuracy.worst_error),
                    bar = std::to_string(accuracy.bar);
  step.hooks.log("relative error against the reference " + error + ", allowed " + bar);
  if (!(accuracy.worst_error <= accuracy.bar)) {  // a NaN is wrong too
    out.rejected = "verify on " + step.session.spec().sku +
                   ": the engine's outputs differ from the reference's by " + error +
                   " (relative), allowed are " + bar;
  }
  return out;
}

}  // namespace enginery
