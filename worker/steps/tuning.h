// Tactics chosen for a network by a step's rules: what the tuning does, and every later step that
// has to choose again. Free functions without state.
#pragma once

#include "worker/steps/step_context.h"

namespace enginery {

struct TunedNetwork {
  TacticSelection selection;
  Bytes choices;  // the selection's record (selection_record.h)
  TunerCounts counts;
  double network_us = 0;  // of a calibrated model: Tuner::network_us
};

// For the network that the session is about. What the store has as failed is not chosen. The step
// has a store and holds the device's lock. Errors: the tuner's.
Result<TunedNetwork> choose_tactics(const StepContext& step, const Network& network,
                                    const Target& target);

// Measures for a tuning that another worker leads: what the store lacks and nobody has in hand.
// Chooses nothing. Errors: the tuner's.
Result<TunerCounts> measure_problems(const StepContext& step, const Network& network,
                                     const Target& target);

}  // namespace enginery
