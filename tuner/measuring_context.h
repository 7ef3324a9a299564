// MeasuringContext: what every measurement of one tuning shares: the device, the tactic sources,
// the store that keeps the timings, the options, the counts, and the probe beside which everything
// is timed.
//
// Where: made by the Tuner, borrowed by ProblemTuner (the tactics of one problem) and NetworkRace
// (whole networks). Threads: belongs to the tuner's thread; `attempt` alone may be called from
// several at a time, because candidates are prepared in parallel.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "tuner/measurement_fixture.h"
#include "tuner/race/race.h"
#include "tuner/timing/comparable.h"
#include "tuner/tuner.h"

namespace enginery {

// Takes over into `timing` all that a race says of its candidate but for the samples.
void note_race(const CandidateResult& result, Timing& timing);

class MeasuringContext {
 public:
  // All references outlive the context. A null TunerOptions::clock means the system's.
  MeasuringContext(Device& device, const TacticSources& sources, TimingStore& store,
                   const TunerOptions& options, TunerCounts& counts);

  Device& device() const { return device_; }
  const TacticSources& sources() const { return sources_; }
  const TunerOptions& options() const { return options_; }
  TunerCounts& counts() const { return counts_; }
  const Clock& clock() const { return clock_; }
  const std::string& device_key() const { return device_key_; }
  TimingStore& timings() const { return store_; }
  // Of all random data of this tuning, which adds small numbers to it: TunerOptions::seed or,
  // without one, drawn when the tuning began.
  uint64_t seed() const { return seed_; }

  // The timings that the store has under `key`: a problem's key or a network's; without the
  // failures that are due again (expiry.h), where measuring is allowed. Errors: storage.
  Result<std::vector<Timing>> find(const std::string& key) const;
  // Asked before something is measured. Errors: not_found, from a store that only reads.
  Status admit_miss(const std::string& key, const std::string& tactic) const;
  // Completes the timings with worker, date, the device's state and the count of failures, and
  // stores them. Leaves out those that neither ran nor failed: they found no memory. Errors:
  // storage.
  Status store(const std::string& key, std::vector<Timing> timings);
  // Stores the failures among `timings`; returns `error`, or the error of storing them.
  Error give_up(const std::string& key, const std::vector<Timing>& timings, const Error& error);

  // Takes the tactic's first steps on the device (`stage` says which) and notes in `result` why
  // they fail. Running out of memory is no failure of the tactic: it is kept apart (out_of_memory).
  // Errors: device_lost, when the device is. Thread-safe.
  Status attempt(const std::string& key, const Tactic& tactic, FailureKind stage, Timing& result,
                 const std::function<Status()>& steps);
  // Reports a tactic or network as in flight (TunerOptions::in_flight) as long as `steps` runs.
  void in_flight(const std::string& key, const std::string& tactic,
                 const std::function<void()>& steps) const;
  // The same for a race of what `names` gives: the turns where candidates are tried one by one,
  // else whole rounds, which name nobody.
  std::function<void(std::optional<size_t>, bool)> turns_in_flight(
      const std::string& key, std::vector<std::string> names) const;
  // The last lack of memory that `attempt` met since it was forgotten.
  const std::optional<Error>& out_of_memory() const { return out_of_memory_; }
  void forget_out_of_memory() { out_of_memory_.reset(); }
  // Whether nothing runs on the device any more. Libraries report that with codes of their own, so
  // the device is asked as well.
  bool lost_device(const Error& error);

  // The control measurement that every race takes beside its candidates: one fixed convolution, run
  // by the first tactic that can. Set up once. Errors: internal (no tactic runs), out_of_memory,
  // device_lost, storage.
  Result<Candidate> probe();

  // A race beside the probe, with an eye on the device (race_watch.h). `what` names it in the log.
  // Errors: those of race() and probe().
  Result<std::vector<CandidateResult>> race_beside_probe(const std::string& what,
                                                         const std::vector<Candidate>& candidates,
                                                         RaceRules rules);

 private:
  Device& device_;
  const TacticSources& sources_;
  TimingStore& store_;
  const TunerOptions& options_;
  TunerCounts& counts_;
  const SystemClock system_clock_;
  const Clock& clock_;
  const std::string device_key_;
  const uint64_t seed_;
  std::unique_ptr<MeasurementFixture> probe_fixture_;
  std::vector<Tactic> probe_tactics_;
  std::optional<Candidate> probe_;
  std::string probe_tactic_;  // by its key
  std::optional<Error> out_of_memory_;
  std::mutex out_of_memory_mutex_;
};

}  // namespace enginery
