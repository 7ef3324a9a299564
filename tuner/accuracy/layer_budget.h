// Which layers of a calibrated model stay in float, so that the model as a whole loses no more than
// it may.
//
// Where: a step of its own before the network is tuned; it runs the model with its quantisation on
// a CPU, so its answer is every target's. The engine is held against the same limit once more, as
// it is. Free functions without state.
#pragma once

#include <set>

#include "tuner/accuracy/sensitivity.h"

namespace enginery {

struct LayerBudget {
  double max_drop_percent = 0;  // AccuracyFigures::drop_percent on all rows
  WatchOptions device;
  ChannelMeans means = {};  // biases are corrected where they are known
  LayerFilter wanted = {};  // the other layers are in float, whatever the budget
  // The progress of a phase.
  std::function<RowProgress(const std::string& phase)> progress = [](const std::string&) {
    return RowProgress([](int64_t, int64_t) { return Status(); });
  };
};

struct FloatLayers {
  std::set<std::string> layers;
  size_t int8_layers = 0;     // that stay quantised
  AccuracyFigures all, kept;  // with all layers in 8 bits, and with these in float
  // The most sensitive first; empty where all layers together are within the budget.
  std::vector<LayerSensitivity> sensitivities;
};

// The fewest of the most sensitive layers without whose quantisation the drop is within the budget,
// found by halving. Errors: unsupported (no layer may be quantised within it, with the layers' own
// losses); those of quantize_products, of WatchedModel and of `progress`.
Result<FloatLayers> layers_in_float(const Graph& in_float, const TensorScales& scales,
                                    HeldOutCheck& check, const LayerBudget& budget);

// As a blob: a JSON array of their names, in byte order.
Bytes write_float_layers(const std::set<std::string>& layers);
// Errors: invalid_argument.
Result<std::set<std::string>> parse_float_layers(std::string_view bytes);

}  // namespace enginery
