#include "tuner/timing/expiry.h"

#include <algorithm>

namespace enginery {

const std::vector<FailureRule>& failure_rules() {
  static const std::vector<FailureRule> rules = {
      {FailureKind::launch, 1, 4},     // another process held what it needed
      {FailureKind::timed_out, 7, 3},  // a busy machine; each attempt costs minutes
      {FailureKind::fault, 14, 2},     // an error of the card; each attempt costs a process
  };
  return rules;
}

bool is_due_again(const Timing& timing, double unix_seconds) {
  if (timing.failure.empty()) return false;
  const auto& rules = failure_rules();
  const auto rule = std::ranges::find(rules, timing.failure_kind, &FailureRule::kind);
  if (rule == rules.end() || timing.attempts >= rule->attempts) return false;
  constexpr double kDaySeconds = 24 * 60 * 60;
  return unix_seconds >= timing.unix_seconds + rule->days * kDaySeconds;
}

}  // namespace enginery
