// Writes the scales of a calibration into a graph: Quantize and Dequantize before the products that
// integers can compute.
//
// Where: on a float model as it was imported, before the passes; from there it is a model with
// quantisation of its own. No row of the pass list: it changes what the graph computes. Free
// function without state.
#pragma once

#include "engine/compile/quantized_places.h"

namespace enginery {

struct QuantizedProducts {
  int products = 0;
  std::vector<std::string> layers;  // their names
  size_t corrected = 0;             // of them, with a bias that was corrected
  int counted = 0;                  // tensors that are read as the bytes which they were made of
  std::vector<std::string> notes;  // for the user: what stays in float, and which scales are unused
};

// Asks place_quantization for the places and writes the pairs of nodes there.
// Weights are int8 with a scale for each output channel, the largest magnitude / 127; a batch
// normalisation behind them is folded into them first. Where there are means, what the weights'
// rounding shifts is taken out of the biases (bias_correction.h). Errors: those of
// place_quantization.
Result<QuantizedProducts> quantize_products(Graph& graph, const TensorScales& scales,
                                            const LayerFilter& wanted = {},
                                            const ChannelMeans& means = {});

}  // namespace enginery
