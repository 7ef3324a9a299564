#include "engine/compile/quantized_places.h"

#include <algorithm>
#include <set>

#include "engine/compile/non_negative.h"
#include "engine/passes/counted_bytes.h"
#include "engine/passes/fold_constants.h"

namespace enginery {
namespace {

constexpr size_t kMostNamed = 5;

// A product of an activation in float32 with weights that are known.
bool is_quantizable(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1] == kNoValue) return false;
  const Tensor* weights = graph.constant(node.inputs[1]);
  const ValueId x = node.inputs[0];
  return weights && weights->type() == DataType::float32 &&
         output_channel_axis(node.op, weights->rank()) >= 0 && !graph.constant(x) &&
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

class Placement {
 public:
  Placement(const Graph& graph, const TensorScales& scales, const LayerFilter& wanted)
      : graph_(graph), scales_(scales), wanted_(wanted) {}

  Result<QuantizedPlaces> run() {
    find_products();
    CHECK_OK(check_scales());
    non_negative_ = non_negative_values(graph_);
    users_ = graph_.users();
    for (const NodeId id : out_.products) read(id, 0);
    for (const NodeId id : graph_.needed_order()) {
      const int addend = addend_of(graph_.node(id));
      if (addend >= 0) read(id, static_cast<size_t>(addend));
    }
    return std::move(out_);
  }

 private:
  void find_products() {
    for (const NodeId id : graph_.needed_order()) {
      const Node& node = graph_.node(id);
      const bool fits = is_quantizable(graph_, node);
      if (fits && (!wanted_ || wanted_(node.name)))
        out_.products.push_back(id);
      else if (std::holds_alternative<Deconvolution>(node.op) ||
               output_channel_axis(node.op, 2) >= 0)
        in_float_.push_back(node.name);
      left_out_ = left_out_ || (fits && wanted_ && !wanted_(node.name));
    }
  }

  // Every product's tensor needs a scale; scales of tensors that nothing multiplies are usual.
  Status check_scales() {
    if (out_.products.empty() && left_out_) {
      note_in_float();
      return {};
    }
    if (out_.products.empty())
      return Error{ErrorCode::unsupported,
                   "int8: the model has no Conv, Gemm or MatMul of a float32 tensor with constant "
                   "weights"};
    std::vector<std::string> missing, unusable;
    std::set<ValueId> seen;
    for (const NodeId id : out_.products) {
      const ValueId x = graph_.node(id).inputs[0];
      const std::string& name = graph_.value(x).name;
      if (!seen.insert(x).second || scales_.known.contains(name)) continue;
      (scales_.unusable.contains(name) ? unusable : missing).push_back(name);
    }
    if (!unusable.empty()) return unusable_error(unusable);
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

  Error unusable_error(const std::vector<std::string>& tensors) const {
    const std::string more =
        tensors.size() == 1 ? "" : " (" + std::to_string(tensors.size() - 1) + " more like it)";
    return {ErrorCode::invalid_argument,
            "the calibration's scale of tensor '" + tensors.front() + "' is " +
                scales_.unusable.at(tensors.front()) + more +
                ", and the model multiplies that tensor, which needs a number above 0; calibrate "
                "this model again"};
  }

  void note_unused() {
    std::set<std::string> names;
    for (ValueId v = 0; v < graph_.value_count(); ++v) names.insert(graph_.value(v).name);
    std::vector<std::string> unknown, unneeded;
    for (const auto& [name, scale] : scales_.known) {
      if (!names.contains(name)) unknown.push_back(name);
    }
    for (const auto& [name, says] : scales_.unusable)
      (names.contains(name) ? unneeded : unknown).push_back(name);
    if (!unknown.empty()) out_.notes.push_back("calibration: not in the model: " + named(unknown));
    if (!unneeded.empty())
      out_.notes.push_back("calibration: no scale above 0, and none is needed: " + named(unneeded));
    note_in_float();
  }

  void note_in_float() {
    if (!in_float_.empty()) out_.notes.push_back("int8: computed in float: " + named(in_float_));
  }

  const std::vector<NodeId>& readers_of(ValueId x) const { return users_[static_cast<size_t>(x)]; }

  bool is_product(NodeId id) const {
    return std::ranges::find(out_.products, id) != out_.products.end();
  }

  // What a maximum of windows is taken of, where nobody but products reads that maximum: it has
  // numbers of the same range. kNoValue for other values.
  ValueId source_of_maximum(ValueId x) const {
    const NodeId by = graph_.value(x).producer;
    const auto* pool = by == kNoNode ? nullptr : std::get_if<Pooling>(&graph_.node(by).op);
    const bool is_maximum =
        pool && pool->kind == PoolKind::max && !graph_.is_output(x) &&
        std::ranges::all_of(readers_of(x), [&](NodeId r) { return is_product(r); });
    if (!is_maximum) return kNoValue;
    const ValueId source = graph_.node(by).inputs[0];
    return scales_.known.contains(graph_.value(source).name) ? source : kNoValue;
  }

  // A maximum has its source's scale, so that it can be taken of the integers. Bytes that were made
  // floats by one step are counted in that step: the same bytes.
  ActivationScale scale_of(ValueId x) const {
    const bool is_non_negative = non_negative_[static_cast<size_t>(x)];
    for (ValueId source = x; source != kNoValue; source = source_of_maximum(source)) x = source;
    const auto bytes = counted_bytes(graph_, x);
    if (!bytes || bytes->zero != 0)
      return {scales_.known.at(graph_.value(x).name), is_non_negative};
    const bool is_unsigned = graph_.value(bytes->bytes).type.type == DataType::uint8;
    return is_unsigned ? unsigned_scale(bytes->step) : ActivationScale{bytes->step, false};
  }

  // The node's input is what the pair of its tensor gives; so is that of a maximum behind the
  // tensor.
  void read(NodeId reader, size_t input) {
    const ValueId x = graph_.node(reader).inputs[input];
    out_.reads.push_back({reader, input, x});
    if (!paired_.insert(x).second) return;
    if (source_of_maximum(x) != kNoValue) read(graph_.value(x).producer, 0);
    out_.pairs.push_back({x, scale_of(x)});
    const auto bytes = counted_bytes(graph_, x);
    out_.counted += bytes && bytes->zero == 0;
  }

  // Whether a product makes the value, or the normalisation that is folded into one, for one
  // reader.
  bool is_of_product(ValueId v) const {
    if (readers_of(v).size() != 1 || graph_.is_output(v)) return false;
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
      const bool fits = paired_.contains(v) || is_of_product(v);
      if (fits && is_of_product(node.inputs[static_cast<size_t>(1 - addend)]) &&
          scales_.known.contains(graph_.value(v).name))
        return addend;
    }
    return -1;
  }

  const Graph& graph_;
  const TensorScales& scales_;
  const LayerFilter& wanted_;
  bool left_out_ = false;                   // whether the filter left out a product
  std::vector<std::string> in_float_;       // names of other products
  std::vector<bool> non_negative_;          // by value
  std::vector<std::vector<NodeId>> users_;  // by value
  std::set<ValueId> paired_;
  QuantizedPlaces out_;
};

}  // namespace

int64_t output_channel_axis(const Op& op, int64_t rank) {
  if (std::holds_alternative<Convolution>(op)) return 0;
  if (const auto* gemm = std::get_if<Gemm>(&op)) return gemm->transpose_b ? 0 : 1;
  if (std::holds_alternative<MatMul>(op) && rank >= 2) return rank - 1;
  return -1;
}

Result<QuantizedPlaces> place_quantization(Graph& graph, const TensorScales& scales,
                                           const LayerFilter& wanted) {
  TRY([[maybe_unused]] const int folded, fold_constants(graph));
  return Placement(graph, scales, wanted).run();
}

}  // namespace enginery
