// Comparison: a tactic's output against the expected one.
//
// Where: probe.cpp, for every output of every launch that it checks. Thread-safe, without state.
#pragma once

#include <string>

#include "tuner/gate/bound.h"
#include "tuner/gate/expectation.h"

namespace enginery {

struct ComparedOutput {
  double relative_error = 0;  // max|y - r| / max|r| over the compared elements, floats only
  std::string wrong;          // the first element that is wrong, with its numbers; empty: none is
};

// `stored`: the compared elements in the type in which the tactic stores them.
ComparedOutput compare(const Tensor& stored, const ExpectedOutput& expected,
                       const Arithmetic& arithmetic, const Tactic& tactic);

}  // namespace enginery
