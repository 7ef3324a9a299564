// The activations that ONNX names in RNN, GRU and LSTM.
#pragma once

#include "engine/import/onnx/node_reader.h"

namespace enginery {

// A function by its name, with its parameters.
struct RecurrentFunction {
  std::string name;  // in lower case
  float alpha = 0, beta = 0;

  ValueId apply(NodeReader& node, ValueId x) const;
};

// Attributes activations, activation_alpha and activation_beta: `defaults` for each direction where
// there are none. Alphas and betas go in order to the functions that have one, as in ONNX Runtime.
// Refuses the node where a name is unknown.
std::vector<RecurrentFunction> read_recurrent_functions(NodeReader& node,
                                                        const std::vector<std::string>& defaults,
                                                        size_t directions);

}  // namespace enginery
