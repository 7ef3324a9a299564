// A timing to put into stores.
#pragma once

#include <string>

#include "tuner/timing/timing.h"

namespace enginery::test {

// Measured at second `at`.
inline Timing timing_of(const std::string& tactic, double us, double at = 1000) {
  Timing out;
  out.tactic = tactic;
  out.statistics = summarize({us, us + 1, us + 2});
  out.error = 0.25;
  out.probe_ratio = 1.5;
  out.worker = "w1";
  out.unix_seconds = at;
  out.state.temperature_c = 40;
  return out;
}

}  // namespace enginery::test
