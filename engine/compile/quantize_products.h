// Writes the scales of a calibration into a graph: Quantize and Dequantize before the products that
// integers can compute.
//
// Where: on a float model as it was imported, before the passes; from there it is a model with
// quantisation of its own. No row of the pass list: it changes what the graph computes. Free
// function without state.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace enginery {

// By tensor, as the model names it: the largest magnitude / 127; above 0.
using TensorScales = std::map<std::string, float>;

struct QuantizedProducts {
  int products = 0;
  std::vector<std::string> layers;  // their names
  std::vector<std::string> notes;  // for the user: what stays in float, and which scales are unused
};

// The activation and the weights of every Conv, Gemm and MatMul with constant float32 weights.
// Activations have the scale of their tensor, in uint8 where they cannot be negative, else in int8;
// one pair of nodes for a tensor, whoever reads it; a max pooling before a product has the scale of
// what it reads. So has what is added to a product's result, where it has a scale and is a
// product's or read by one: residual sums are of integers. Weights are int8 with a scale for each
// output channel, the largest magnitude / 127; a batch normalisation behind them is folded into
// them first. The rest stays in float, also ConvTranspose and products of two activations, which
// have no kernels in 8 bits here. Errors: invalid_argument (a tensor without a scale, named; scales
// of another model); unsupported (nothing to quantise); those of fold_constants.
// `wanted` says of which layers; empty: of all.
Result<QuantizedProducts> quantize_products(
    Graph& graph, const TensorScales& scales,
    const std::function<bool(const std::string& layer)>& wanted = {});

}  // namespace enginery
