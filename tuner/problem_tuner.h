// ProblemTuner: times the tactics of one problem, or takes them from the store. The inner half of
// the tuner.
#pragma once

#include <limits>
#include <mutex>

#include "tuner/lab.h"
#include "tuner/tuner.h"

namespace enginery {

// The time of what is unknown or failed.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Times of one problem's tactics, parallel to the tactics asked for; infinite where one failed.
struct ProblemTimes {
  std::vector<double> us;
  std::vector<Timing> timings;
  double of(const std::string& tactic) const;  // by tactic_key; infinite when unknown
};

class ProblemTuner {
 public:
  ProblemTuner(Device& device, const TacticSources& sources, TimingStore& store,
               const TunerOptions& options, TunerCounts& counts);
  ~ProblemTuner();

  // Errors: cancelled, not_found (a store that only reads), storage, out_of_memory (for every
  // tactic), device_lost (tuner.h).
  Result<ProblemTimes> time(const Problem& problem, const std::vector<Tactic>& tactics);
  // The tactics that `time` would measure: worth it, not known. Errors: not_found, storage.
  Result<std::vector<const Tactic*>> to_measure(const Problem& problem,
                                                const std::vector<Tactic>& tactics) const;
  // The lane that every race runs beside its contenders: one fixed convolution, by the first tactic
  // that runs it.
  Result<Lane> guard();

  const std::string& device_key() const { return device_key_; }
  DeviceState device_state() const;
  void record(Timing& timing, const DeviceState& state) const;  // worker and date, too
  // Whether the error means that nothing runs on the device any more. Libraries have words of their
  // own for it, so the device is asked, too.
  bool lost_device(const Error& error);

 private:
  // Some of a problem's tactics by their indices; results are parallel to the tactics.
  using Indices = std::vector<size_t>;
  // A tactic that is right in a lab and ready to race there.
  struct Entry {
    size_t index;
    Lane lane;
  };
  // worth_measuring but for views, which take no time.
  std::vector<const Tactic*> worth_timing(const std::vector<Tactic>& tactics) const;
  Status measure(const Problem& problem, const std::string& key,
                 const std::vector<const Tactic*>& missing);
  // Prepares and checks; without those that fail or find no memory.
  Result<std::vector<Entry>> enter(Lab& lab, const std::string& key,
                                   const std::vector<const Tactic*>& tactics, const Indices& which,
                                   std::vector<Timing>& results);
  Result<std::vector<LaneResult>> race_entries(const std::string& key,
                                               const std::vector<Entry>& entries, RaceRules rules,
                                               std::vector<Timing>& results);
  // Races the close ones, the fastest of which comes first, in another lab and adds samples as
  // ratios to that one.
  Status race_again(Lab& lab, const std::string& key, const std::vector<const Tactic*>& tactics,
                    const Indices& close, std::vector<Timing>& results,
                    std::vector<std::vector<double>>& samples);
  // Candidates parallel to `which`; without copies where one failed.
  Result<std::vector<LabCandidate>> prepare(const Lab& lab, const std::string& key,
                                            const std::vector<const Tactic*>& tactics,
                                            const Indices& which, std::vector<Timing>& results);
  // Takes the tactic's first steps and keeps why they fail in `result`, but for want of memory
  // (full_). device_lost when the device is.
  Status attempt(const std::string& key, const Tactic& tactic, Timing& result,
                 const std::function<Status()>& steps);
  Status store_results(const std::string& key, std::vector<Timing>& results);
  // Stores what is known to fail, and gives the error back.
  Error give_up(const std::string& key, std::vector<Timing>& results, const Error& error);

  Device& device_;
  const TacticSources& sources_;
  TimingStore& store_;
  const TunerOptions& options_;
  TunerCounts& counts_;
  std::string device_key_;
  std::unique_ptr<Lab> guard_lab_;
  std::vector<Tactic> guard_tactics_;
  std::optional<Lane> guard_;
  std::optional<Error> full_;  // the last tactic of the problem in hand that found no memory
  std::mutex full_mutex_;      // tactics are prepared side by side
};

// The tactics of `offered` that are worth measuring at this level: all, without those whose least
// possible time is far above another's estimate, or the first few. The reference stays only when
// nothing else is left.
std::vector<const Tactic*> worth_measuring(const std::vector<Tactic>& offered, int level);

}  // namespace enginery
