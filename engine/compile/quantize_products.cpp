#include "engine/compile/quantize_products.h"

#include <algorithm>
#include <set>

#include "engine/compile/non_negative.h"
#include "engine/passes/fold_batch_norm.h"
#include "engine/passes/fold_constants.h"
#include "engine/tensor/symmetric_int8.h"

namespace enginery {
namespace {

constexpr size_t kMostNamed = 5;

// The dimension of a product's weights that counts output channels; -1: no such product.
int64_t channel_axis(const Op& op, int64_t rank) {
  if (std::holds_alternative<Convolution>(op)) return 0;
  if (const auto* gemm = std::get_if<Gemm>(&op)) return gemm->transpose_b ? 0 : 1;
  if (std::holds_alternative<MatMul>(op) && rank >= 2) return rank - 1;
  return -1;
}

// A product of an activation in float32 with weights that are known.
bool is_quantizable(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  const Tensor* weights = graph.constant(node.inputs[1]);
  const ValueId x = node.inputs[0];
  return weights && weights->type() == DataType::float32 &&
         channel_axis(node.op, weights->rank()) >= 0 && !graph.constant(x) &&
         graph.value(x).type.type == DataType::float32;
}

std::string named(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    out += (i == 0 ? "'" : ", '") + names[i] + "'";
  if (names.size() > kMostNamed)
    out += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return out;
}

using LayerFilter = std::function<bool(const std::string& layer)>;

class Quantizer {
 public:
  Quantizer(Graph& graph, const TensorScales& scales, const LayerFilter& wanted)
      : graph_(graph), scales_(scales), wanted_(wanted) {}

  Result<QuantizedProducts> run() {
    TRY([[maybe_unused]] const int constants, fold_constants(graph_));
    find_products();
    CHECK_OK(check_scales());
    const std::vector<bool> non_negative = non_negative_values(graph_);
    for (const NodeId id : products_) {
      const ValueId x = graph_.node(id).inputs[0];
      TRY(const ValueId y, quantized_activation(x, non_negative[static_cast<size_t>(x)]));
      graph_.node(id).inputs[0] = y;
    }
    TRY([[maybe_unused]] const int folded, fold_batch_norm(graph_));
    for (const NodeId id : products_) CHECK_OK(quantize_weights_of(id));
    out_.products = static_cast<int>(products_.size());
    for (const NodeId id : products_) out_.layers.push_back(graph_.node(id).name);
    return std::move(out_);
  }

 private:
  void find_products() {
    for (const NodeId id : graph_.needed_order()) {
      const Node& node = graph_.node(id);
      if (is_quantizable(graph_, node) && (!wanted_ || wanted_(node.name)))
        products_.push_back(id);
      else if (std::holds_alternative<Deconvolution>(node.op) || channel_axis(node.op, 2) >= 0)
        in_float_.push_back(node.name);
    }
  }

  // Every product's tensor needs a scale; scales of tensors that nothing multiplies are usual.
  Status check_scales() {
    if (products_.empty())
      return Error{ErrorCode::unsupported,
                   "int8: the model has no Conv, Gemm or MatMul of a float32 tensor with constant "
                   "weights"};
    std::vector<std::string> missing;
    std::set<ValueId> seen;
    for (const NodeId id : products_) {
      const ValueId x = graph_.node(id).inputs[0];
      const std::string& name = graph_.value(x).name;
      if (seen.insert(x).second && !scales_.contains(name)) missing.push_back(name);
    }
    if (missing.size() == seen.size())
      return Error{ErrorCode::invalid_argument,
                   "the calibration has no scale for any tensor that this model multiplies (" +
                       named(missing) + "); it is of another model"};
    if (!missing.empty())
      return Error{ErrorCode::invalid_argument,
                   "the calibration has no scale for tensor " + named(missing) +
                       ", which the model multiplies; calibrate this model again"};
    note_unused();
    return {};
  }

  void note_unused() {
    std::set<std::string> names;
    for (ValueId v = 0; v < graph_.value_count(); ++v) names.insert(graph_.value(v).name);
    std::vector<std::string> unknown;
    for (const auto& [name, scale] : scales_) {
      if (!names.contains(name)) unknown.push_back(name);
    }
    if (!unknown.empty()) out_.notes.push_back("calibration: not in the model: " + named(unknown));
    if (!in_float_.empty()) out_.notes.push_back("int8: computed in float: " + named(in_float_));
  }

  // Quantize and Dequantize of a value, for all its products.
  Result<ValueId> quantized_activation(ValueId x, bool non_negative) {
    const auto known = activations_.find(x);
    if (known != activations_.end()) return known->second;
    const std::string name = graph_.value(x).name;
    const ActivationScale as{scales_.at(name), non_negative};
    const ValueId step = graph_.add_constant(name + "_scale", Tensor::scalar<float>(as.step()));
    TRY(const auto quantized, graph_.add_node(name + "_quantized", Quantize{as.type()}, {x, step}));
    TRY(const auto back,
        graph_.add_node(name + "_dequantized", Dequantize{}, {quantized[0], step}));
    return activations_[x] = back[0];
  }

  Status quantize_weights_of(NodeId id) {
    const ValueId w = graph_.node(id).inputs[1];
    const Tensor weights = *graph_.constant(w);
    const int64_t axis = channel_axis(graph_.node(id).op, weights.rank());
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
  const TensorScales& scales_;
  const LayerFilter& wanted_;
  std::vector<NodeId> products_;
  std::vector<std::string> in_float_;  // names of other products
  std::map<ValueId, ValueId> activations_;
  std::map<std::pair<ValueId, int64_t>, ValueId> weights_;  // by tensor and dimension
  QuantizedProducts out_;
};

}  // namespace

Result<QuantizedProducts> quantize_products(Graph& graph, const TensorScales& scales,
                                            const LayerFilter& wanted) {
  return Quantizer(graph, scales, wanted).run();
}

}  // namespace enginery
