// What rounding the weights shifts the results of products by, taken out of their biases.
//
// Where: quantize_products and `calibrate --to-qdq`, after place_quantization: both correct alike.
// Free functions without state.
#pragma once

#include "engine/compile/quantized_places.h"

namespace enginery {

// By product, for each output channel: what is to be added to its bias.
using BiasCorrections = std::map<NodeId, std::vector<float>>;

// For output channel k minus the sum over input channels c of mean[c] and the sum of what rounding
// adds to the weights between c and k; padding counts as if it had the mean, too. Of the products
// (QuantizedPlaces::products) that are convolutions or Gemms whose input's means are there, and
// that have a constant bias or are read by a batch normalisation alone, which takes one in: other
// biases would change the network's structure, and so what has to be measured.
BiasCorrections bias_corrections(const Graph& graph, const std::vector<NodeId>& products,
                                 const ChannelMeans& means);

// Adds them to the biases.
void correct_biases(Graph& graph, const BiasCorrections& corrections);

}  // namespace enginery
