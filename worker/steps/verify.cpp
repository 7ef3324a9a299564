#include "worker/steps/sound_engine.h"

namespace enginery {

Result<StepOutputs> verify_step(const StepContext& step) {
  const Progress begun{doing("verify"), 0, 1};
  step.hooks.progress(begun);
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(DraftEngine engine, sound_engine(step));
  TRY(const VerifiedEngine verified, verify_and_mend(step, std::move(engine)));
  StepOutputs out;
  leave_accuracy(step, verified, out);
  out.rejected = verified.rejected;
  if (out.rejected.empty()) leave_engine(verified.engine, out);
  return out;
}

}  // namespace enginery
