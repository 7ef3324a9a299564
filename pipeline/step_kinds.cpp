#include "pipeline/step_kinds.h"

namespace enginery {

OutcomeKind outcome_kind(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported:
    case ErrorCode::usage:
      return OutcomeKind::failed;
    case ErrorCode::out_of_memory:
      return OutcomeKind::out_of_memory;
    case ErrorCode::cancelled:
      return OutcomeKind::cancelled;
    case ErrorCode::timed_out:
      return OutcomeKind::back_pressure;
    case ErrorCode::storage:
      return OutcomeKind::storage;
    default:
      return OutcomeKind::internal;
  }
}

std::string phase_name(const std::string& step) {
  if (step == "validate") return "validating";
  if (step == "tune") return "tuning";
  if (step == "assemble") return "assembling";
  if (step == "verify") return "verifying";
  if (step == "profile") return "profiling";
  return step;
}

}  // namespace enginery
