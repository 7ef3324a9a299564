// Where Quantize and Dequantize stand when a calibration's scales are written into a network.
//
// Where: before quantize_products, which writes them into a graph, and `calibrate --to-qdq`, which
// writes them into the model's file: one rule, so that both are quantised alike. Values; free
// functions without state.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/tensor/symmetric_int8.h"

namespace enginery {

// By tensor, as the model names it.
struct TensorScales {
  std::map<std::string, float> known;  // the largest magnitude / 127; above 0
  // What the calibration says that is no number above 0, and where: "0 in line 3 of its table".
  std::map<std::string, std::string> unusable = {};
  // fingerprint() of the graph that they were observed in, where that is known.
  std::optional<Digest> model = std::nullopt;
};
// By tensor, as the model names it: the mean of each channel; of those for which it is known.
using ChannelMeans = std::map<std::string, std::vector<float>>;
// Which layers, by name; empty: all.
using LayerFilter = std::function<bool(const std::string& layer)>;

struct QuantizedPlaces {
  struct Pair {  // of nodes, one for a tensor, whoever reads it
    ValueId value = kNoValue;
    ActivationScale scale;
  };
  struct Read {  // of a tensor by what the pair gives: input `input` of `reader` is it
    NodeId reader = kNoNode;
    size_t input = 0;
    ValueId value = kNoValue;
  };
  std::vector<NodeId> products;  // their weights are quantised, too
  std::vector<Pair> pairs;
  std::vector<Read> reads;
  int counted = 0;  // pairs that give back bytes which were made floats (counted_bytes.h)
  std::vector<std::string> notes;  // for the user: what stays in float, and which scales are unused
};

// The dimension of a product's weights that counts output channels; -1: no product that integers
// can compute. `rank` is the weights'.
int64_t output_channel_axis(const Op& op, int64_t rank);

// The activation of every Conv, Gemm and MatMul with constant float32 weights. Activations have the
// scale of their tensor, in uint8 where they cannot be negative, else in int8 (bytes of the model's
// own times one step have that step, so that they are read as they are); a max pooling before
// a product has the scale of what it reads. So has what is added to a product's result, where it
// has a scale and is a product's or read by one: residual sums are of integers. The rest stays in
// float, also ConvTranspose and products of two activations, which have no kernels in 8 bits here.
// Folds the graph's constants first; its other nodes stay. Errors: those of fold_constants;
// invalid_argument (a tensor without a scale that can be used, named; scales of another model);
// unsupported (nothing to quantise, and nothing that the filter left out).
Result<QuantizedPlaces> place_quantization(Graph& graph, const TensorScales& scales,
                                           const LayerFilter& wanted = {});

}  // namespace enginery
