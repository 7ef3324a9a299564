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
    non_negative_ = non_negative_values(graph_);
    users_ = graph_.users();
    for (const NodeId id : products_) {
      TRY(graph_.node(id).inputs[0], quantized_activation(graph_.node(id).inputs[0]));
    }
    CHECK_OK(quantize_addends());
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

  const std::vector<NodeId>& readers_of(ValueId x) const { return users_[static_cast<size_t>(x)]; }

  bool is_product(NodeId id) const { return std::ranges::find(products_, id) != products_.end(); }

  // What a maximum of windows is taken of, where nobody but products reads that maximum: it has
  // numbers of the same range. kNoValue for other values.
  ValueId source_of_maximum(ValueId x) const {
    const NodeId by = graph_.value(x).producer;
    const auto* pool = by == kNoNode ? nullptr : std::get_if<Pooling>(&graph_.node(by).op);
    const bool is_maximum =
        pool && pool->kind == PoolKind::max && !graph_.is_output(x) &&
        std::ranges::all_of(readers_of(x), [&](NodeId r) { return is_product(r); });
    if (!is_maximum) return kNoValue;
    const ValueId source = pooled_.contains(by) ? pooled_.at(by) : graph_.node(by).inputs[0];
    return scales_.contains(graph_.value(source).name) ? source : kNoValue;
  }

  // A maximum has its source's scale, so that it can be taken of the integers.
  float scale_of(ValueId x) const {
    for (ValueId source = x; source != kNoValue; source = source_of_maximum(source)) x = source;
    return scales_.at(graph_.value(x).name);
  }

  // Quantize and Dequantize of a value, for all its products.
  Result<ValueId> quantized_activation(ValueId x) {
    const auto known = activations_.find(x);
    if (known != activations_.end()) return known->second;
    const ValueId source = source_of_maximum(x);
    if (source != kNoValue) {
      const NodeId pool = graph_.value(x).producer;
      TRY(const ValueId quantized_source, quantized_activation(source));
      pooled_[pool] = source;
      graph_.node(pool).inputs[0] = quantized_source;
    }
    const std::string name = graph_.value(x).name;
    const ActivationScale as{scale_of(x), non_negative_[static_cast<size_t>(x)]};
    const ValueId step = graph_.add_constant(name + "_scale", Tensor::scalar<float>(as.step()));
    TRY(const auto quantized, graph_.add_node(name + "_quantized", Quantize{as.type()}, {x, step}));
    TRY(const auto back,
        graph_.add_node(name + "_dequantized", Dequantize{}, {quantized[0], step}));
    return activations_[x] = back[0];
  }

  // Whether a product makes the value, or the normalisation that is folded into one, for one
  // reader.
  bool is_of_product(ValueId v) const {
    const bool imported = v != kNoValue && static_cast<size_t>(v) < users_.size();
    if (!imported || readers_of(v).size() != 1 || graph_.is_output(v)) return false;
    const NodeId by = graph_.value(v).producer;
    if (by == kNoNode || is_product(by)) return by != kNoNode;
    const Node& node = graph_.node(by);
    return std::holds_alternative<BatchNorm>(node.op) && is_of_product(node.inputs[0]);
  }

  // Which operand of a sum of two tensors of one size is read in 8 bits, because the other one is a
  // product's, which can add it to its sums: what other products read so, too, or a product's; -1:
  // none.
  int addend_of(const Node& node) const {
    const auto* op = std::get_if<Binary>(&node.op);
    if (!op || op->kind != BinaryKind::add) return -1;
    const TensorType &a = graph_.value(node.inputs[0]).type, &b = graph_.value(node.inputs[1]).type;
    if (a != b || a.type != DataType::float32) return -1;
    for (const int addend : {0, 1}) {
      const ValueId v = node.inputs[static_cast<size_t>(addend)];
      const bool fits = activations_.contains(v) || is_of_product(v);
      if (fits && is_of_product(node.inputs[static_cast<size_t>(1 - addend)]) &&
          scales_.contains(graph_.value(v).name))
        return addend;
    }
    return -1;
  }

  Status quantize_addends() {
    for (const NodeId id : graph_.needed_order()) {
      const int addend = addend_of(graph_.node(id));
      if (addend < 0) continue;
      const ValueId v = graph_.node(id).inputs[static_cast<size_t>(addend)];
      TRY(const ValueId quantized, quantized_activation(v));
      graph_.node(id).inputs[static_cast<size_t>(addend)] = quantized;
    }
    return {};
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
  std::vector<std::string> in_float_;       // names of other products
  std::vector<bool> non_negative_;          // by value
  std::vector<std::vector<NodeId>> users_;  // of the values as imported
  std::map<NodeId, ValueId> pooled_;  // what a max pooling read before its input was quantised
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
