#include "coordinator/core/retry.h"

#include <algorithm>
#include <set>

#include "pipeline/result.h"

namespace enginery {
namespace {

constexpr size_t kMaxOutputs = 64;
constexpr size_t kMaxFactBytes = 64 * 1024;

}  // namespace

const RetryRule& retry_rule(OutcomeKind kind) {
  using std::chrono::milliseconds;
  static const RetryRule rules[] = {
      // One worker may be killed often; three workers may not.
      {OutcomeKind::worker_lost, 60, milliseconds(0)},
      {OutcomeKind::preempted, 100, milliseconds(100)},
      // It stopped by itself: as preempted.
      {OutcomeKind::cancelled, 100, milliseconds(100)},
      {OutcomeKind::back_pressure, 100, milliseconds(1000)},
      {OutcomeKind::out_of_memory, 2, milliseconds(500)},
      {OutcomeKind::storage, 6, milliseconds(2000)},
      {OutcomeKind::internal, 3, milliseconds(200)},
  };
  for (const RetryRule& rule : rules)
    if (rule.kind == kind) return rule;
  ENSURE(false, "an outcome without a retry rule");
}

Tries count_tries(const std::vector<AttemptRow>& attempts, OutcomeKind kind) {
  Tries tries;
  std::set<std::string_view> lost;
  for (const AttemptRow& attempt : attempts) {
    tries.same += attempt.outcome == kind;
    if (attempt.outcome == OutcomeKind::worker_lost) lost.insert(attempt.worker);
  }
  tries.lost_workers = lost.size();
  return tries;
}

std::string problem_of_report(const Outcome& outcome, const std::string& needed,
                              const std::vector<Digest>& missing) {
  if (outcome.outputs.size() > kMaxOutputs) return "too many outputs";
  size_t fact_bytes = 0;
  for (const NamedText& fact : outcome.facts) fact_bytes += fact.name.size() + fact.value.size();
  if (fact_bytes > kMaxFactBytes) return "too long facts";
  std::set<std::string_view> names;
  for (const NamedBlob& output : outcome.outputs) {
    if (!is_output_name(output.name)) return "an output with a bad name";
    if (!names.insert(output.name).second) return "the output '" + output.name + "' twice";
    if (std::find(missing.begin(), missing.end(), output.digest) != missing.end())
      return "the output '" + output.name + "', whose blob " + output.digest.text() +
             " it did not upload";
  }
  if (!needed.empty() && !names.count(needed)) return "no output '" + needed + "'";
  return "";
}

std::string forged_output(const Outcome& outcome, StepTable table) {
  for (const Step& step : table) {
    if (step.needs != Needs::signing_key) continue;
    for (const NamedBlob& output : outcome.outputs)
      if (output.name == step.leaves)
        return "the output '" + output.name + "', which only the coordinator leaves";
  }
  return "";
}

}  // namespace enginery
