// What was considered for one problem: every tactic that a source offers for it, with its time or
// the reason why it has none, and the sources that have nothing for it.
//
// Where: `build --explain`, after the tuning, over the timings that it left. Measures nothing.
// Plain values and free functions without state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tactics/tactic.h"
#include "tuner/timing/timing.h"

namespace enginery {

enum class Consideration { measured, failed, view, unmeasured };
std::string_view to_string(Consideration what);

struct ConsideredTactic {
  std::string tactic;  // tactic_key
  Consideration what = Consideration::unmeasured;
  std::string reason;       // why it has no time; "" where it was measured
  double us = 0;            // on one scale with the others' (comparable.h); 0: not measured
  double cold_us = 0;       // as measured behind other layers; 0: not measured
  double error = 0;         // relative, against the reference
  double estimated_us = 0;  // by the analytic model; 0: none
};

// A source that offers nothing for the problem.
struct RefusingSource {
  std::string source, reason;
};

struct ConsideredProblem {
  std::string problem;                    // Problem::key
  std::vector<ConsideredTactic> tactics;  // the fastest first, then by what became of them
  std::vector<RefusingSource> refusals;   // in the order of the sources
};

// `timings` are all that the store has for the problem: what a source no longer offers, or did not
// offer in these precisions, is among the results only as far as it is offered now. Tactics with
// more bytes of workspace than `most_workspace` are unmeasured. Errors: those of the sources but
// unsupported.
Result<ConsideredProblem> consider(const Problem& problem, const TacticSources& sources,
                                   const std::set<Precision>& allowed, int level,
                                   const std::vector<Timing>& timings,
                                   std::optional<int64_t> most_workspace = {});

}  // namespace enginery
