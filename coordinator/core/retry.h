// How attempts end: the retry rules by kind of outcome, and what a report of success must contain.
//
// Where: Queue asks when a worker reports, falls silent or fails. The table of the rules is also in
// README.md. Threads: free functions without state.
#pragma once

#include "coordinator/core/core.h"

namespace enginery {

struct RetryRule {
  OutcomeKind kind;
  int attempts;          // that may end so before the step fails
  Nanoseconds back_off;  // before the next attempt; times the number of attempts that ended so
};

// For every kind but `succeeded`, `failed` and `input_gone`, which are never retried.
const RetryRule& retry_rule(OutcomeKind kind);

// A process ended while it ran the step: counted for the step's key (key_troubles.h).
bool is_kill(OutcomeKind kind);
// The end of an attempt's message whose worker was gone before it said that it runs the step: no
// death of the step's, since it may never have begun.
inline constexpr std::string_view kBeforeItBegan = ", before it began the step";
// The step is better tried on another worker.
bool is_avoided_after(OutcomeKind kind);
// It says something about the worker's health.
bool counts_against_worker(OutcomeKind kind);

// How many of the attempts ended in that way.
int count_tries(const std::vector<AttemptRow>& attempts, OutcomeKind kind);

// What is wrong with a worker's report of success, as the end of "worker W reported ..."; "" when
// nothing is. `needed`: the output that the step must leave, or "". `missing`: the digests of
// reported outputs that are not in the store.
std::string problem_of_report(const Outcome& outcome, const std::string& needed,
                              const std::vector<Digest>& missing);

// The same for an output that only the coordinator's own step leaves: the signed engine.
std::string forged_output(const Outcome& outcome, StepTable table);

}  // namespace enginery
