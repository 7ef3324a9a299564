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
      verify_content(*model, content, *target, {.inputs = step.verify_inputs}));
  StepOutputs out;
  std::string notes;
  for (const std::string& note : accuracy.notes) notes += note + "\n";
  if (!notes.empty()) out.facts.push_back({"verify_notes", notes});
  out.metrics = {{"error", accuracy.worst_error}, {"bar", accuracy.bar}};
  if (!accuracy.skipped.empty()) {
    out.facts.push_back({"verify_skipped", accuracy.skipped});
    step.hooks.log("not compared with the reference: " + accuracy.skipped);
    return out;
  }
  step.hooks.log("relative error against the reference " + std::to_string(accuracy.worst_error) +
                 ", allowed " + std::to_string(accuracy.bar));
  if (!accuracy.wrong.empty()) {
    out.rejected = "verify on " + step.session.spec().sku +
                   ": the engine's outputs differ from the reference's: " + accuracy.wrong;
  }
  return out;
}

}  // namespace enginery
