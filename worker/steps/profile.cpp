#include "engine/device/measurer.h"
#include "worker/steps/engine_trials.h"
#include "worker/steps/float_check.h"
#include "worker/steps/sound_engine.h"

namespace enginery {

Result<StepOutputs> profile_step(const StepContext& step) {
  const Progress begun{doing("profile"), 0, 1};
  step.hooks.progress(begun);
  TRY(const Target* target, step.session.target());
  TRY(const DeviceLock lock, lock_device(step, target->device->info(), begun));
  TRY(DraftEngine engine, sound_engine(step));
  StepOutputs out;
  StepContext made_of = step;
  // A tactic of what was verified has failed here since: the engine without it is verified first.
  if (engine.anew) {
    TRY(VerifiedEngine verified, verify_and_mend(step, std::move(engine)));
    leave_accuracy(step, verified, out);
    out.rejected = verified.rejected;
    if (!out.rejected.empty()) return out;
    engine = std::move(verified.engine);
    leave_engine(engine, out);
    made_of.inputs["choices"] = std::make_shared<const Bytes>(engine.choices);
  }
  TRY(const auto figures, hold_against_float(step, engine.content));
  Measurer* measurer = target->device->measurer();
  if (measurer) (void)measurer->state();  // the load of other programs counts from here
  EngineTrials trials(step, target->device->info());
  const auto profile = profile_content(engine.content, *target, SystemClock(), trials.watch());
  TRY([[maybe_unused]] const bool stored, trials.store_failures());
  if (!profile.ok()) return profile.error();
  if (!profile->skipped.empty()) step.hooks.log("not timed: " + profile->skipped);
  if (measurer) out.metrics.push_back({"foreign_load", measurer->state().foreign_load});
  Provenance made = make_provenance(made_of, sha256(*engine.content), *profile);
  if (figures) {
    leave_figures(*figures, out);
    add_figures(*figures, step.session.spec().options, made.facts);
  }
  TRY(const Bytes provenance, write_provenance(made));
  out.blobs["unsigned"] = unsigned_engine(*engine.content, provenance);
  out.metrics.push_back({"latency_ms", profile->median_us / 1000});
  out.metrics.push_back({"device_latency_ms", profile->device_median_us / 1000});
  return out;
}

}  // namespace enginery
