// NetworkRace: whole networks against each other, as recorded launches over their planned memory.
// The tuner's last word.
#pragma once

#include "engine/plan/plan.h"
#include "tuner/problem_tuner.h"

namespace enginery {

class NetworkRace {
 public:
  // All references must outlive the race.
  NetworkRace(Device& device, const TacticSources& sources, TimingStore& store,
              const TunerOptions& options, TunerCounts& counts, ProblemTuner& problems)
      : device_(device),
        sources_(sources),
        store_(store),
        options_(options),
        counts_(counts),
        problems_(problems) {}

  // The index of the fastest; of those that tie with it, the first. Times are kept like any other,
  // so that a rebuild measures nothing. Errors: cancelled; not_found (a store that only reads);
  // out_of_memory (for all); internal (none runs); device_lost.
  Result<size_t> fastest(const Network& network, const std::vector<Assignment>& assignments);

 private:
  Status measure(const Network& network, const std::vector<Assignment>& assignments,
                 const std::string& key, const std::vector<Timing>& past);
  Status keep(const std::string& key, const std::string& name, const LaneResult& result);

  Device& device_;
  const TacticSources& sources_;
  TimingStore& store_;
  const TunerOptions& options_;
  TunerCounts& counts_;
  ProblemTuner& problems_;
};

}  // namespace enginery
