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
      // Three deaths in all end it, counted for the key: key_troubles.h.
      {OutcomeKind::worker_lost, 100, milliseconds(0)},
      {OutcomeKind::crashed, 100, milliseconds(0)},
      {OutcomeKind::partitioned, 100, milliseconds(0)},
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

bool is_kill(OutcomeKind kind) {
  return kind == OutcomeKind::worker_lost || kind == OutcomeKind::crashed;
}

bool is_avoided_after(OutcomeKind kind) {
  return counts_against_worker(kind) || kind == OutcomeKind::out_of_memory;
}

bool counts_against_worker(OutcomeKind kind) {
  return is_kill(kind) || kind == OutcomeKind::storage || kind == OutcomeKind::internal ||
         kind == OutcomeKind::input_gone;
}

int count_tries(const std::vector<AttemptRow>& attempts, OutcomeKind kind) {
  return static_cast<int>(
      std::count_if(attempts.begin(), attempts.end(),
                    [&](const AttemptRow& attempt) { return attempt.outcome == kind; }));
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
