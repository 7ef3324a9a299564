#include "engine/compile/quantize_products.h"

#include "engine/compile/bias_correction.h"
#include "engine/passes/fold_batch_norm.h"

namespace enginery {
namespace {

class Quantizer {
 public:
  Quantizer(Graph& graph, QuantizedPlaces places) : graph_(graph), places_(std::move(places)) {}

  Result<QuantizedProducts> run() {
    for (const QuantizedPlaces::Pair& pair : places_.pairs) CHECK_OK(add_pair(pair));
    for (const auto& [reader, input, value] : places_.reads)
      graph_.node(reader).inputs[input] = activations_.at(value);
    TRY([[maybe_unused]] const int folded, fold_batch_norm(graph_));
    for (const NodeId id : places_.products) CHECK_OK(quantize_weights_of(id));
    QuantizedProducts out;
    out.products = static_cast<int>(places_.products.size());
    for (const NodeId id : places_.products) out.layers.push_back(graph_.node(id).name);
    out.counted = places_.counted;
    out.notes = std::move(places_.notes);
    return out;
  }

 private:
  // Quantize and Dequantize of a value, for all that read it so.
  Status add_pair(const QuantizedPlaces::Pair& pair) {
    const auto& [x, as] = pair;
    const std::string name = graph_.value(x).name;
    const ValueId step = graph_.add_constant(name + "_scale", Tensor::scalar<float>(as.step()));
    TRY(const auto quantized, graph_.add_node(name + "_quantized", Quantize{as.type()}, {x, step}));
    TRY(const auto back,
        graph_.add_node(name + "_dequantized", Dequantize{}, {quantized[0], step}));
    activations_[x] = back[0];
    return {};
  }

  Status quantize_weights_of(NodeId id) {
    const ValueId w = graph_.node(id).inputs[1];
    const Tensor weights = *graph_.constant(w);
    const int64_t axis = output_channel_axis(graph_.node(id).op, weights.rank());
    auto [known, fresh] = weights_.try_emplace({w, axis}, kNoValue);
    if (fresh) {
      const std::string name = graph_.value(w).name;
      QuantizedWeights quantized = quantize_weights(weights, axis);
      const ValueId elements =
          graph_.add_constant(name + "_quantized", std::move(quantized.elements));
      const ValueId scale = graph_.add_constant(name + "_scale", std::move(quantized.scales));
      TRY(const auto back,
          graph_.add_node(name + "_dequantized", Dequantize{axis}, {elements, scale}));
      known->second = back[0];
    }
    graph_.node(id).inputs[1] = known->second;
    return {};
  }

  Graph& graph_;
  QuantizedPlaces places_;
  std::map<ValueId, ValueId> activations_;
  std::map<std::pair<ValueId, int64_t>, ValueId> weights_;  // by tensor and dimension
};

}  // namespace

Result<QuantizedProducts> quantize_products(Graph& graph, const TensorScales& scales,
                                            const LayerFilter& wanted, const ChannelMeans& means) {
  TRY(QuantizedPlaces places, place_quantization(graph, scales, wanted));
  const BiasCorrections corrections = bias_corrections(graph, places.products, means);
  correct_biases(graph, corrections);
  TRY(QuantizedProducts out, Quantizer(graph, std::move(places)).run());
  out.corrected = corrections.size();
  return out;
}

}  // namespace enginery
