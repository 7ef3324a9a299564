#include "worker/steps/step_functions.h"

namespace enginery {

StepFunctions step_functions() {
  static constexpr StepFunction kFunctions[] = {
      {StepKind::validate, validate_step}, {StepKind::tune, tune_step},
      {StepKind::assemble, assemble_step}, {StepKind::verify, verify_step},
      {StepKind::profile, profile_step},   {StepKind::calibrate, calibrate_step},
      {StepKind::mix, mix_step},
  };
  return kFunctions;
}

Result<StepOutputs> run_step(const std::string& name, const StepContext& step,
                             StepFunctions functions, StepTable table) {
  const Step* row = find_step(name, table);
  for (const StepFunction& function : functions)
    if (row != nullptr && function.kind == row->kind) return function.run(step);
  return Error{ErrorCode::unsupported, "this worker knows no step '" + name + "'"};
}

}  // namespace enginery
