// ProblemTuner: times the tactics of one problem, or takes them from the store. The inner half of
// the tuner.
//
// Flow: what the store lacks is prepared in parallel, passes the gate (problem_gate.h) and is
// raced, together with the best of what it has (anchors.h); close ones race again in further
// fixtures, because where buffers lie decides, too, and once with cold caches; what may win is
// checked once more. Belongs to the tuner's thread.
#pragma once

#include "tuner/problem_gate.h"

namespace enginery {

// Times of one problem's tactics.
struct ProblemTimes {
  // Parallel to the tactics asked for, on one scale (comparable.h); infinite where failed.
  std::vector<double> us;
  std::vector<Timing> timings;  // all that the store has for the problem
  // The time of a tactic by its tactic_key; infinite when it failed or is unknown.
  double of(const std::string& tactic) const;
};

class ProblemTuner {
 public:
  // `context` outlives the tuner.
  explicit ProblemTuner(MeasuringContext& context) : context_(context) {}

  // The times of all `tactics` that are worth the effort, measured where the store lacks them; of
  // the others only where all of those fail. Errors: cancelled, not_found (a store that only
  // reads), storage, out_of_memory (for every tactic), device_lost (tuner.h).
  Result<ProblemTimes> time(const Problem& problem, const std::vector<Tactic>& tactics,
                            const Effort& effort = {});
  // The tactics that `time` would run: worth it, and not known, or anchors of those. Errors:
  // not_found, storage.
  Result<std::vector<const Tactic*>> to_measure(const Problem& problem,
                                                const std::vector<Tactic>& tactics,
                                                const Effort& effort = {}) const;

 private:
  using Indices = TacticIndices;
  using Job = ProblemJob;
  enum class Gate { whole, one_probe };
  // A tactic that was right in a fixture and is ready to race there.
  struct Entry {
    size_t index;  // of the tactic
    PreparedCandidate prepared;
    Candidate candidate;
  };
  std::vector<const Tactic*> worth_timing(const std::vector<Tactic>& tactics,
                                          const Effort& effort) const;
  // Measures those of `wanted` that have no timing, and reads `timings` again.
  Status time_missing(const Problem& problem, const std::string& key,
                      const std::vector<const Tactic*>& wanted, const Effort& effort,
                      std::vector<Timing>& timings);
  // Measures what is missing of `wanted` so that it can be compared with what is known.
  Status measure_missing(const Problem& problem, const std::string& key,
                         const std::vector<const Tactic*>& wanted, const Effort& effort,
                         const std::vector<Timing>& known);
  // Measures and stores what is new in the job. False, and nothing but failures stored, where no
  // anchor runs any more.
  Result<bool> measure(Job job);
  // The races of those that passed the gate.
  Status time_entries(const std::vector<Entry>& entries, MeasurementFixture& fixture, Job& job);
  // Prepares and checks, on the fixture's data alone or at the whole gate. The entries lack those
  // that fail or find no memory.
  Result<std::vector<Entry>> enter(MeasurementFixture& fixture, const Indices& which, Gate gate,
                                   Job& job);
  Result<std::vector<PreparedCandidate>> prepare(const MeasurementFixture& fixture,
                                                 const Indices& which, Job& job);
  Status check(MeasurementFixture& fixture, const std::vector<PreparedCandidate>& prepared,
               const Indices& which, Job& job);
  Result<std::vector<Entry>> candidates(MeasurementFixture& fixture,
                                        std::vector<PreparedCandidate> prepared,
                                        const Indices& which, Job& job);
  // Parallel to the entries; failures are noted in the job's results.
  Result<std::vector<CandidateResult>> race_entries(const std::vector<Entry>& entries,
                                                    RaceRules rules, Job& job);
  // Races the close ones, the fastest of which comes first, in another fixture, and adds samples as
  // ratios to that one.
  Status race_again(MeasurementFixture& fixture, const Indices& close, Job& job);
  // Races the closest with what lies in the caches swept out before each launch.
  Status race_cold(const std::vector<Entry>& entries, MeasurementFixture& fixture, Job& job);

  MeasuringContext& context_;
};

}  // namespace enginery
