// NetworkRace: whole networks against each other, as recorded launches over their planned memory.
// The tuner's last decision.
//
// Belongs to the tuner's thread.
#pragma once

#include "engine/plan/plan.h"
#include "tuner/measuring_context.h"

namespace enginery {

class NetworkRace {
 public:
  // `context` outlives the race.
  explicit NetworkRace(MeasuringContext& context) : context_(context) {}

  // The index of the fastest selection; of those that tie with it, the first. Times are stored like
  // those of tactics, under the network's structure, so that a rebuild measures nothing. Errors:
  // cancelled; not_found (a store that only reads); out_of_memory (for all); internal (none runs);
  // device_lost.
  Result<size_t> fastest(const Network& network, const std::vector<TacticSelection>& selections);

  // The time of one selection, measured where the store lacks it. Errors: as above.
  Result<double> median_us(const Network& network, const TacticSelection& selection);

 private:
  // What enters one race: candidates parallel to the selections, and what they run on.
  struct Field;
  Status measure(const Network& network, const std::vector<TacticSelection>& selections,
                 const std::string& key, const std::vector<Timing>& past);
  Status enter(const Network& network, const TacticSelection& selection, const std::string& key,
               const std::vector<Timing>& past, Field& field);
  Status store(const std::string& key, const Field& field,
               const std::vector<CandidateResult>& raced);
  Status store_one(const std::string& key, const std::string& name, const CandidateResult& result);

  MeasuringContext& context_;
};

}  // namespace enginery
