// How attempts end: the retry rules by kind of outcome, and what a report of success must contain.
//
// Where: Queue asks when a worker reports, falls silent or fails. The table of the rules is also in
// README.md. Threads: free functions without state.
#pragma once

#include "coordinator/core/core.h"

namespace enginery {

// A step is quarantined once this many distinct workers have died while they ran it.
inline constexpr size_t kQuarantineAfterWorkers = 3;

struct RetryRule {
  OutcomeKind kind;
  int attempts;          // that may end so before the step fails
  Nanoseconds back_off;  // before the next attempt; times the number of attempts that ended so
};

// For every kind but `succeeded` and `failed`, which are never retried.
const RetryRule& retry_rule(OutcomeKind kind);

// What the attempts so far say about another one.
struct Tries {
  int same = 0;             // that ended in the given way
  size_t lost_workers = 0;  // distinct workers that were lost
};
Tries count_tries(const std::vector<AttemptRow>& attempts, OutcomeKind kind);

// What is wrong with a worker's report of success, as the end of "worker W reported ..."; "" when
// nothing is. `needed`: the output that the step must leave, or "". `missing`: the digests of
// reported outputs that are not in the store.
std::string problem_of_report(const Outcome& outcome, const std::string& needed,
                              const std::vector<Digest>& missing);

// The same for an output that only the coordinator's own step leaves: the signed engine.
std::string forged_output(const Outcome& outcome, StepTable table);

}  // namespace enginery
