// How far the values between a model's inputs and its outputs are from those of another run of it,
// by their names. A value and a free function without state.
//
// Where: `compare --tensors`; first_divergence.h tells values by what they hold instead.
#pragma once

#include <string>
#include <vector>

#include "engine/compile/run_trace.h"

namespace enginery {

struct ValueErrors {
  std::string name, op;  // the operators of the layer of `actual` that computes it
  double relative = 0;   // as those of TensorErrors, over the samples
  double sqnr_db = 0;
};

// Of each value that both have computed and shown under one name and that are alike (are_alike), in
// the order of the layers of `actual`. Where several tensors hold a value, as reformats make them,
// the first one counts.
std::vector<ValueErrors> value_errors(const RunTrace& actual, const RunTrace& reference);

}  // namespace enginery
