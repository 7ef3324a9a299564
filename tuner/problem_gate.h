// ProblemGate: what the tactics of one problem must pass before they are timed, and again before
// one of them may win.
//
// Flow: three probes of the problem (gate/probe_data.h) and one of a smaller problem with the same
// remainders (gate/shrink.h), each with numbers of its own. Where the reference runs in full and
// the tensors are large, all but the first run on the smaller problem. A failure is never cleared.
// Belongs to the tuner's thread; prepares on several.
#pragma once

#include "tuner/effort/effort.h"
#include "tuner/measuring_context.h"

namespace enginery {

// What one call of ProblemTuner::time measures, and what became of it.
struct ProblemJob {
  const Problem& problem;
  std::string key;
  std::vector<const Tactic*> tactics;
  Effort effort = {};
  std::vector<const Timing*> known = {};  // parallel, as all below: of anchors (anchors.h); or null
  std::vector<Timing> results = {};
  std::vector<std::vector<double>> samples = {};  // microseconds
  std::vector<double> cold_us = {};               // medians in cold caches; 0: not measured
  std::vector<bool> out_of_room = {};  // no memory for it: neither timed nor held against it

  // Whether the tactic failed or found no memory: it takes no further part.
  bool is_out(size_t i) const { return !results[i].failure.empty() || out_of_room[i]; }
};

// Some of a problem's tactics by their indices.
using TacticIndices = std::vector<size_t>;

class ProblemGate {
 public:
  // Both outlive the gate.
  ProblemGate(MeasuringContext& context, ProblemJob& job) : context_(context), job_(job) {}

  // Calls `prepare_one` for the tactics, side by side where the options allow it; what fails is
  // noted in the job. Errors: device_lost.
  Status prepare(const TacticIndices& which, const std::function<Status(size_t)>& prepare_one);

  // Notes in the job what `launch_and_compare` finds wrong with the tactic. Errors: device_lost.
  Status check(size_t index, const std::function<Result<CheckedResult>()>& launch_and_compare);

  // All probes but the symmetric one of the real problem, which the fixture has. What is wrong on
  // one of them is noted in the job. Errors: cancelled, device_lost, those of the reference.
  Status pass_probes(const TacticIndices& which);

  // Checks what may win, the fastest of each set of formats and what ties with it, on fresh numbers
  // in another place, several times; what is wrong now makes room for the next. Errors: as
  // pass_probes.
  Status confirm_winners();

 private:
  Status pass_on(const Problem& problem, const std::vector<ProbeKind>& kinds, Coverage coverage,
                 const TacticIndices& which);
  Status pass(Probe& probe, const TacticIndices& which, int launches);
  TacticIndices possible_winners() const;
  TacticIndices sound(const TacticIndices& which) const;
  bool repeats_cheaply(const Tactic& tactic) const;

  MeasuringContext& context_;
  ProblemJob& job_;
};

}  // namespace enginery
