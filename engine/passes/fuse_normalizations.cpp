#include "engine/passes/fuse_normalizations.h"

#include <algorithm>
#include <cmath>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

// x normalised over dims[axis..], without scale and bias.
struct NormalizedRows {
  ValueId x;
  int64_t axis;
  float epsilon;
  bool centred;
};

struct Mean {
  ValueId of;
  int64_t axis;  // over dims[axis..]
};

const Binary* binary_of(const Node* node, BinaryKind kind) {
  const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
  return binary && binary->kind == kind ? binary : nullptr;
}

// Reads the pattern backwards; each function names the value that it explains `v` by.
class RowsReader {
 public:
  RowsReader(const Graph& graph, const Matcher& matcher) : graph_(graph), m_(matcher) {}

  // node = c / sqrt(mean of c^2 + epsilon), the root in the divisor or inverted in a product.
  std::optional<NormalizedRows> read(const Node& node) const {
    if (binary_of(&node, BinaryKind::div))
      return rows_of(node.inputs[0], inside_root(node.inputs[1]));
    if (!binary_of(&node, BinaryKind::mul)) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const auto rows = rows_of(node.inputs[1 - side], inside_inverse_root(node.inputs[side]));
      if (rows) return rows;
    }
    return std::nullopt;
  }

 private:
  // v = sqrt(u): u.
  ValueId inside_root(ValueId v) const {
    const Node* node = m_.producer(v);
    const Unary* unary = node ? std::get_if<Unary>(&node->op) : nullptr;
    if (unary && unary->kind == UnaryKind::sqrt) return node->inputs[0];
    const auto power = m_.power(node);
    return power && power->scalar == 0.5f ? power->other : kNoValue;
  }

  // v = 1 / sqrt(u): u.
  ValueId inside_inverse_root(ValueId v) const {
    const Node* node = m_.producer(v);
    const Unary* unary = node ? std::get_if<Unary>(&node->op) : nullptr;
    if (unary && unary->kind == UnaryKind::reciprocal) return inside_root(node->inputs[0]);
    if (binary_of(node, BinaryKind::div) && m_.scalar(node->inputs[0]) == 1.0f)
      return inside_root(node->inputs[1]);
    const auto power = m_.power(node);
    return power && power->scalar == -0.5f ? power->other : kNoValue;
  }

  // v = c^2: c.
  ValueId squared(ValueId v) const {
    const Node* node = m_.producer(v);
    if (binary_of(node, BinaryKind::mul) && node->inputs[0] == node->inputs[1])
      return node->inputs[0];
    const auto power = m_.power(node);
    return power && power->scalar == 2 ? power->other : kNoValue;
  }

  // A mean over the last dimensions, which stay with size 1.
  std::optional<Mean> mean_of(ValueId v) const {
    const Node* node = m_.producer(v);
    const auto* pool = node ? std::get_if<GlobalPooling>(&node->op) : nullptr;
    if (pool && pool->kind == PoolKind::average) return Mean{node->inputs[0], 2};
    const auto* reduce = node ? std::get_if<Reduce>(&node->op) : nullptr;
    if (!reduce || reduce->kind != ReduceKind::mean || !reduce->keep_dims || reduce->axes.empty())
      return std::nullopt;
    const int64_t rank = std::ssize(graph_.value(node->inputs[0]).type.dims);
    std::vector<int64_t> axes = reduce->axes;
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    std::sort(axes.begin(), axes.end());
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i] != rank - std::ssize(axes) + static_cast<int64_t>(i)) return std::nullopt;
    return Mean{node->inputs[0], axes[0]};
  }

  // `c` divided by the root of `radicand`, which is the mean of c^2 and an epsilon.
  std::optional<NormalizedRows> rows_of(ValueId c, ValueId radicand) const {
    const auto shifted = m_.binary_with_scalar(m_.producer(radicand), BinaryKind::add);
    if (!shifted || !(shifted->scalar >= 0) || !std::isfinite(shifted->scalar)) return std::nullopt;
    const auto variance = mean_of(shifted->other);
    if (!variance || squared(variance->of) != c) return std::nullopt;
    const Node* difference = m_.producer(c);
    if (binary_of(difference, BinaryKind::sub)) {
      const auto mean = mean_of(difference->inputs[1]);
      if (mean && mean->of == difference->inputs[0] && mean->axis == variance->axis)
        return NormalizedRows{mean->of, mean->axis, shifted->scalar, true};
    }
    return NormalizedRows{c, variance->axis, shifted->scalar, false};
  }

  const Graph& graph_;
  const Matcher& m_;
};

// A constant that repeats over what is before `row`, with the dims that it has beside a row.
std::optional<Tensor> beside_row(const Tensor* t, const Dims& row, DataType type) {
  if (!t || t->type() != type) return std::nullopt;
  Dims dims = t->dims();
  while (dims.size() > row.size() && dims[0] == 1) dims.erase(dims.begin());
  if (dims.size() > row.size()) return std::nullopt;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t size = dims[dims.size() - 1 - i];
    if (size != 1 && size != row[row.size() - 1 - i]) return std::nullopt;
  }
  return t->reshaped(dims);
}

Tensor ones(const Dims& dims, DataType type) {
  Tensor t(DataType::float32, dims);
  for (float& v : t.mutable_data<float>()) v = 1;
  return convert(t, type);
}

// The steps behind a normalisation: a product and a sum that only one node reads each.
class Follower {
 public:
  Follower(const Graph& graph, const Matcher& matcher, NodeId from)
      : graph_(graph), m_(matcher), last_(from) {}

  // The constant by which the only reader of what is there so far does `kind`, where that keeps its
  // type; it becomes the last.
  template <typename F>
  auto take(BinaryKind kind, F&& reading) -> decltype(reading(nullptr)) {
    const NodeId next = m_.only_reader(graph_.node(last_));
    if (next == kNoNode || !binary_of(&graph_.node(next), kind)) return {};
    const Node& node = graph_.node(next);
    const ValueId own = graph_.node(last_).outputs[0];
    if (graph_.value(node.outputs[0]).type != graph_.value(own).type) return {};
    auto found = reading(graph_.constant(node.inputs[node.inputs[0] == own ? 1 : 0]));
    if (found) last_ = next;
    return found;
  }
  NodeId last() const { return last_; }

 private:
  const Graph& graph_;
  const Matcher& m_;
  NodeId last_;
};

// Node `id` becomes `op` of `inputs`.
void rewrite(Graph& graph, Matcher& matcher, NodeId id, Op op, std::vector<ValueId> inputs) {
  matcher.rewired(id, graph.node(id).inputs, inputs);
  graph.node(id).op = std::move(op);
  graph.node(id).inputs = std::move(inputs);
}

bool fuse_rows(Graph& graph, Matcher& matcher, NodeId id) {
  const auto rows = RowsReader(graph, matcher).read(graph.node(id));
  if (!rows) return false;
  const TensorType x = graph.value(rows->x).type;
  if (x != graph.value(graph.node(id).outputs[0]).type || !is_static(x.dims)) return false;
  const Dims row(x.dims.begin() + rows->axis, x.dims.end());
  const auto factor = [&](const Tensor* t) { return beside_row(t, row, x.type); };
  Follower follower(graph, matcher, id);
  const auto scale = follower.take(BinaryKind::mul, factor);
  const auto bias =
      rows->centred ? follower.take(BinaryKind::add, factor) : std::optional<Tensor>();
  const std::string name = graph.node(follower.last()).name;
  std::vector<ValueId> inputs{
      rows->x, graph.add_constant(name + ".scale", scale ? *scale : ones(row, x.type))};
  if (bias) inputs.push_back(graph.add_constant(name + ".bias", *bias));
  const Op op = rows->centred ? Op(LayerNorm{rows->axis, rows->epsilon})
                              : Op(RmsNorm{rows->axis, rows->epsilon});
  rewrite(graph, matcher, follower.last(), op, std::move(inputs));
  return true;
}

// One number for each of `groups` groups as one for each of the channels.
std::vector<float> for_channels(const std::vector<float>& of_groups, size_t channels) {
  std::vector<float> out;
  for (size_t c = 0; c < channels; ++c) out.push_back(of_groups[c * of_groups.size() / channels]);
  return out;
}

// [N, C, ...] seen as [N, groups, ...]: normalised by instances, and seen as before.
bool fuse_groups(Graph& graph, Matcher& matcher, NodeId id) {
  const Node& node = graph.node(id);
  const Node* apart = matcher.private_producer(node.inputs[0]);
  const NodeId together = matcher.only_reader(node);
  if (!apart || !std::holds_alternative<Reshape>(apart->op) || together == kNoNode ||
      !std::holds_alternative<Reshape>(graph.node(together).op))
    return false;
  const ValueId x = apart->inputs[0];
  const TensorType type = graph.value(x).type;
  const Dims grouped = graph.value(node.inputs[0]).type.dims;
  if (type.type == DataType::float64 || type.dims.size() < 3 || !is_static(type.dims) ||
      !is_static(grouped) || type.dims[0] != grouped[0] || type.dims[1] % grouped[1] != 0 ||
      graph.value(graph.node(together).outputs[0]).type != type)
    return false;
  const auto scales = constant_per_channel(graph.constant(node.inputs[1]), {grouped[1]}, 0);
  const auto biases = constant_per_channel(graph.constant(node.inputs[2]), {grouped[1]}, 0);
  if (!scales || !biases) return false;
  const auto channels = static_cast<size_t>(type.dims[1]);
  std::vector<float> scale = for_channels(*scales, channels),
                     bias = for_channels(*biases, channels);
  Follower follower(graph, matcher, together);
  const auto of_channels = [&](const Tensor* t) { return constant_per_channel(t, type.dims, 1); };
  const auto factors = follower.take(BinaryKind::mul, of_channels);
  const auto addends = follower.take(BinaryKind::add, of_channels);
  for (size_t c = 0; c < channels; ++c) {
    scale[c] *= factors ? (*factors)[c] : 1;
    bias[c] = bias[c] * (factors ? (*factors)[c] : 1) + (addends ? (*addends)[c] : 0);
  }
  const GroupNorm op{grouped[1], std::get<InstanceNorm>(node.op).epsilon};
  const std::string name = graph.node(follower.last()).name;
  const auto constant = [&](const std::string& what, const std::vector<float>& values) {
    const Tensor t = Tensor::of<float>({type.dims[1]}, values);
    return graph.add_constant(name + what, convert(t, type.type));
  };
  const ValueId scale_id = constant(".scale", scale), bias_id = constant(".bias", bias);
  rewrite(graph, matcher, follower.last(), op, {x, scale_id, bias_id});
  return true;
}

}  // namespace

Result<int> fuse_normalizations(Graph& graph) {
  int changed = 0;
  Matcher matcher(graph);
  for (const NodeId id : graph.topological_order()) {
    if (std::holds_alternative<Binary>(graph.node(id).op))
      changed += fuse_rows(graph, matcher, id);
    else if (std::holds_alternative<InstanceNorm>(graph.node(id).op))
      changed += fuse_groups(graph, matcher, id);
  }
  return changed;
}

}  // namespace enginery
