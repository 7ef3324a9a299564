#include "engine/import/onnx/sizes/open_axes.h"

#include <algorithm>

namespace enginery {
namespace {

using Inputs = std::vector<ValueId>;

// Deeper chains of integers come from no exporter.
constexpr int kMaxBoundDepth = 16;

class Rules {
 public:
  Rules(const OpenAxes& open, const Graph& graph, const Op& op, const Inputs& inputs,
        const Inputs& outputs, ValueId count)
      : open_(open), graph_(graph), op_(op), inputs_(inputs), outputs_(outputs), count_(count) {}

  Result<std::vector<OpenValue>> run() {
    OpenValue out;
    Status known = std::visit([&](const auto& op) { return rule(op, out); }, op_);
    if (!known.ok()) return known.error();
    std::ranges::sort(out.axes, {}, &OpenAxis::axis);
    return std::vector<OpenValue>(outputs_.size(), out);
  }

 private:
  const Dims& dims(size_t input) const { return graph_.value(inputs_[input]).type.dims; }
  int64_t rank(size_t input) const { return std::ssize(dims(input)); }
  const OpenValue& of(size_t input) const { return open_.of(inputs_[input]); }
  static int64_t wrapped(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }
  Error refuse(size_t input, int64_t axis) const { return open_axis_error(op_, input, axis); }

  // Inputs from `first` on have no open axis.
  Status require_closed(size_t first) const {
    for (size_t i = first; i < inputs_.size(); ++i) {
      if (!of(i).axes.empty()) return refuse(i, of(i).axes[0].axis);
    }
    return {};
  }

  // The output has the axes of the first input, of which that one is not open.
  Status same_but(int64_t axis, OpenValue& out) const {
    for (const OpenAxis& a : of(0).axes) {
      if (a.axis == axis) return refuse(0, axis);
    }
    out.axes = of(0).axes;
    return require_closed(1);
  }

  // Only the first axis, which the operator keeps apart, may be open.
  Status along_batch(OpenValue& out) const {
    for (const OpenAxis& a : of(0).axes) {
      if (a.axis != 0) return refuse(0, a.axis);
    }
    out.axes = of(0).axes;
    return require_closed(1);
  }

  // Every input's axis has the one count, or is of size 1, known when the model is read.
  Status broadcast(OpenValue& out) const {
    int64_t most = 0;
    for (size_t i = 0; i < inputs_.size(); ++i) most = std::max(most, rank(i));
    for (int64_t axis = 0; axis < most; ++axis) {
      ValueId count = kNoValue;
      for (size_t i = 0; i < inputs_.size(); ++i) {
        const ValueId own = open_.count(inputs_[i], axis - most + rank(i));
        if (own != kNoValue && count != kNoValue && own != count)
          return refuse(i, axis - most + rank(i));
        if (own != kNoValue) count = own;
      }
      if (count == kNoValue) continue;
      CHECK_OK(require_one_beside(axis, most));
      out.axes.push_back({axis, count});
    }
    return {};
  }
  Status require_one_beside(int64_t axis, int64_t most) const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t at = axis - most + rank(i);
      if (at < 0 || open_.count(inputs_[i], at) != kNoValue) continue;
      if (dims(i)[static_cast<size_t>(at)] != 1) return refuse(i, at);
    }
    return {};
  }

  template <typename T>
  Status rule(const T& op, OpenValue& out) const {
    if constexpr (std::is_same_v<T, Binary> || std::is_same_v<T, Where> ||
                  std::is_same_v<T, PRelu>) {
      return broadcast(out);
    } else if constexpr (std::is_same_v<T, Activation> || std::is_same_v<T, Unary> ||
                         std::is_same_v<T, Pad> || std::is_same_v<T, Resize>) {
      return same_but(-1, out);  // Pad, Resize: rewrite_spread has seen to it
    } else if constexpr (std::is_same_v<T, Cast> || std::is_same_v<T, Identity> ||
                         std::is_same_v<T, Compact>) {
      out.zeros_behind = of(0).zeros_behind;
      return same_but(-1, out);
    } else if constexpr (std::is_same_v<T, Convolution> || std::is_same_v<T, Deconvolution> ||
                         std::is_same_v<T, Pooling> || std::is_same_v<T, GlobalPooling>) {
      return along_batch(out);
    } else if constexpr (std::is_same_v<T, BatchNorm>) {
      return same_but(1, out);
    } else {
      return own_rule(op, out);
    }
  }

  template <typename T>
  Status own_rule(const T&, OpenValue&) const {
    return require_closed(0);
  }

  // Masked where the axis is open (rewrite_open).
  Status own_rule(const Softmax&, OpenValue& out) const { return same_but(-1, out); }
  Status own_rule(const CumSum&, OpenValue& out) const { return same_but(-1, out); }
  // The count of its result is its own second output; the reader that adds it says so.
  Status own_rule(const FindNonZero&, OpenValue&) const { return {}; }
  Status own_rule(const NonMaxSuppression&, OpenValue&) const { return {}; }

  Status own_rule(const LayerNorm& op, OpenValue& out) const {
    for (int64_t axis = wrapped(op.axis, rank(0)); axis < rank(0); ++axis)
      CHECK_OK(same_but(axis, out));
    return {};
  }

  Status own_rule(const Transpose& op, OpenValue& out) const {
    out.zeros_behind = of(0).zeros_behind;
    for (const OpenAxis& a : of(0).axes) {
      const auto to = std::ranges::find(op.permutation, a.axis);
      const bool reversed = op.permutation.empty();
      out.axes.push_back({reversed ? rank(0) - 1 - a.axis : to - op.permutation.begin(), a.count});
    }
    return {};
  }

  // Other dims of the same elements: the axis goes where as many elements stand before it and
  // behind it.
  Status moved(OpenValue& out) const {
    CHECK_OK(require_closed(1));
    if (of(0).axes.size() != 1) return refuse(0, of(0).axes[0].axis);
    const OpenAxis from = of(0).axes[0];
    const Dims &in = dims(0), &to = graph_.value(outputs_[0]).type.dims;
    const auto before = [](const Dims& d, int64_t axis) {
      return volume(Dims(d.begin(), d.begin() + axis));
    };
    if (!is_static(in) || !is_static(to)) return refuse(0, from.axis);
    std::vector<int64_t> fits;
    for (int64_t axis = 0; axis < std::ssize(to); ++axis) {
      if (to[static_cast<size_t>(axis)] == in[static_cast<size_t>(from.axis)] &&
          before(to, axis) == before(in, from.axis))
        fits.push_back(axis);
    }
    if (fits.size() != 1) return refuse(0, from.axis);
    out.axes = {{fits[0], from.count}};
    out.zeros_behind = of(0).zeros_behind;
    return {};
  }
  Status own_rule(const Flatten&, OpenValue& out) const { return moved(out); }
  Status own_rule(const Squeeze&, OpenValue& out) const { return moved(out); }
  Status own_rule(const Unsqueeze&, OpenValue& out) const { return moved(out); }
  // The size of the open axis must follow from the others: a number would be the largest size.
  Status own_rule(const Reshape& op, OpenValue& out) const {
    if (count_ != kNoValue) {  // joined with the axes behind it
      out = {{{0, count_}}, of(0).zeros_behind};
      return {};
    }
    CHECK_OK(moved(out));
    const Tensor* target = graph_.constant(inputs_[1]);
    const int64_t given = target ? to_int64s(*target)[static_cast<size_t>(out.axes[0].axis)] : 1;
    const bool copied = given == 0 && !op.allow_zero && out.axes[0].axis == of(0).axes[0].axis;
    return given == -1 || copied ? Status() : Status(refuse(0, of(0).axes[0].axis));
  }

  Status own_rule(const Gather& op, OpenValue& out) const {
    const int64_t axis = wrapped(op.axis, rank(0));
    for (const OpenAxis& a : of(0).axes) {
      if (a.axis != axis)
        out.axes.push_back({a.axis < axis ? a.axis : a.axis - 1 + rank(1), a.count});
    }
    for (const OpenAxis& a : of(1).axes) out.axes.push_back({axis + a.axis, a.count});
    out.zeros_behind = of(1).axes.empty() && of(0).zeros_behind;
    return {};
  }

  Status own_rule(const GatherNd& op, OpenValue& out) const {
    const int64_t tuple = dims(1).back(), last = rank(1) - 1;
    for (const OpenAxis& a : of(1).axes) {
      if (a.axis < op.batch_dims || a.axis == last) return refuse(1, a.axis);
      out.axes.push_back(a);
    }
    for (const OpenAxis& a : of(0).axes) {
      if (a.axis < op.batch_dims) return refuse(0, a.axis);
      const int64_t behind = a.axis - op.batch_dims - tuple;
      if (behind >= 0) out.axes.push_back({last + behind, a.count});
    }
    return {};
  }

  // Along an open axis the rewritten count is the result's.
  Status along(int64_t axis, OpenValue& out) const {
    for (const OpenAxis& a : of(0).axes) {
      if (a.axis != axis) out.axes.push_back(a);
    }
    if (count_ != kNoValue) out.axes.push_back({axis, count_});
    return require_closed(1);
  }
  Status own_rule(const Slice&, OpenValue& out) const {
    out = of(0);
    if (count_ != kNoValue) out.axes[0].count = count_;
    return require_closed(1);
  }
  Status own_rule(const TopK& op, OpenValue& out) const {
    return along(wrapped(op.axis, rank(0)), out);
  }
  // What writes where runs tell was rewritten.
  Status own_rule(const ScatterElements&, OpenValue& out) const { return same_but(-1, out); }
  Status own_rule(const ScatterNd&, OpenValue& out) const { return same_but(-1, out); }
  Status own_rule(const Split& op, OpenValue& out) const {
    out.zeros_behind = of(0).zeros_behind;
    return same_but(wrapped(op.axis, rank(0)), out);
  }
  // Along the open axis it was rewritten.
  Status own_rule(const Concat&, OpenValue& out) const {
    out.axes = of(0).axes;
    out.zeros_behind = true;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (of(i).axes != out.axes) return refuse(i, (of(i).axes.empty() ? out : of(i)).axes[0].axis);
      out.zeros_behind &= of(i).zeros_behind;
    }
    return {};
  }

  // The axes that are taken together are masked (rewrite_open).
  Status reduced(const std::vector<int64_t>& axes, bool keep, OpenValue& out) const {
    CHECK_OK(require_closed(1));
    std::vector<bool> gone(static_cast<size_t>(rank(0)), axes.empty());
    for (const int64_t a : axes) gone[static_cast<size_t>(wrapped(a, rank(0)))] = true;
    for (const OpenAxis& a : of(0).axes) {
      if (gone[static_cast<size_t>(a.axis)]) continue;
      const auto fewer = std::count(gone.begin(), gone.begin() + a.axis, true);
      out.axes.push_back({keep ? a.axis : a.axis - fewer, a.count});
    }
    return {};
  }
  Status own_rule(const Reduce& op, OpenValue& out) const {
    if (op.axes.empty() && op.none_is_identity) return same_but(-1, out);
    return reduced(op.axes, op.keep_dims, out);
  }
  Status own_rule(const ArgMinMax& op, OpenValue& out) const {
    return reduced({op.axis}, op.keep_dims, out);
  }

  // Rows of a product hang on rows of the first factor alone.
  Status own_rule(const MatMul&, OpenValue& out) const {
    if (rank(0) < 2 || rank(1) != 2) return require_closed(0);
    return same_but(rank(0) - 1, out);
  }
  Status own_rule(const Gemm& op, OpenValue& out) const {
    const size_t added = 2;
    const bool has_rows = inputs_.size() > added && inputs_[added] != kNoValue && rank(added) > 1 &&
                          dims(added)[0] != 1;
    if (op.transpose_a || has_rows) return require_closed(0);
    return same_but(1, out);
  }

  const OpenAxes& open_;
  const Graph& graph_;
  const Op& op_;
  const Inputs &inputs_, &outputs_;
  const ValueId count_;
};

}  // namespace

const OpenValue& OpenAxes::of(ValueId v) const {
  const auto found_value = values_.find(v);
  return found_value == values_.end() ? none_ : found_value->second;
}

ValueId OpenAxes::count(ValueId v, int64_t axis) const {
  for (const OpenAxis& a : of(v).axes) {
    if (a.axis == axis) return a.count;
  }
  return kNoValue;
}

bool OpenAxes::any(const std::vector<ValueId>& values) const {
  return std::ranges::any_of(values, [&](ValueId v) { return !of(v).axes.empty(); });
}

void OpenAxes::add(ValueId v, OpenValue value) {
  if (v == kNoValue || value.axes.empty()) return;
  for (const OpenAxis& a : value.axes) counts_.insert(a.count);
  values_[v] = std::move(value);
}

void OpenAxes::know_sizes(const Graph& graph, ValueId v) {
  for (const OpenAxis& a : of(v).axes) {
    const int64_t most = graph.value(v).type.dims[static_cast<size_t>(a.axis)];
    if (most >= 0) bounds_.try_emplace(a.count, most);
  }
}

ValueId OpenAxes::shape_source(const Graph& graph, ValueId shape) const {
  for (int depth = 0; shape != kNoValue && depth < kMaxBoundDepth; ++depth) {
    if (const auto source = shapes_.find(shape); source != shapes_.end()) return source->second;
    const NodeId producer = graph.value(shape).producer;
    if (producer == kNoNode) return kNoValue;
    const Node& node = graph.node(producer);
    if (!std::holds_alternative<Identity>(node.op) && !std::holds_alternative<Cast>(node.op))
      return kNoValue;
    shape = node.inputs[0];
  }
  return kNoValue;
}

std::optional<int64_t> OpenAxes::upper_bound(const Graph& graph, ValueId v) const {
  return bound(graph, v, 0);
}

std::optional<int64_t> OpenAxes::bound(const Graph& graph, ValueId v, int depth) const {
  if (v == kNoValue || depth > kMaxBoundDepth) return std::nullopt;
  if (const auto known = bounds_.find(v); known != bounds_.end()) return known->second;
  if (const Tensor* constant = graph.constant(v)) {
    const std::vector<int64_t> values = to_int64s(*constant);
    return values.empty() ? std::nullopt : std::optional(std::ranges::max(values));
  }
  if (graph.value(v).producer == kNoNode) return std::nullopt;
  const Node& node = graph.node(graph.value(v).producer);
  const auto* binary = std::get_if<Binary>(&node.op);
  const auto* reduce = std::get_if<Reduce>(&node.op);
  const bool least =
      (binary && binary->kind == BinaryKind::min) || (reduce && reduce->kind == ReduceKind::min);
  const bool passes =
      std::holds_alternative<Identity>(node.op) || std::holds_alternative<Reshape>(node.op) ||
      std::holds_alternative<Squeeze>(node.op) || std::holds_alternative<Unsqueeze>(node.op) ||
      std::holds_alternative<Cast>(node.op);
  if (reduce && least && graph.value(node.inputs[0]).producer != kNoNode) {
    const Node& parts = graph.node(graph.value(node.inputs[0]).producer);
    if (std::holds_alternative<Concat>(parts.op)) return least_bound(graph, parts.inputs, depth);
  }
  if (least) return least_bound(graph, node.inputs, depth);
  if (passes) return bound(graph, node.inputs[0], depth + 1);
  if (!std::holds_alternative<Concat>(node.op)) return std::nullopt;
  std::optional<int64_t> largest = INT64_MIN;
  for (const ValueId part : node.inputs) {
    const auto one = bound(graph, part, depth + 1);
    largest = one && largest ? std::optional(std::max(*largest, *one)) : std::nullopt;
  }
  return largest;
}

std::optional<int64_t> OpenAxes::least_bound(const Graph& graph, const std::vector<ValueId>& of,
                                             int depth) const {
  std::optional<int64_t> least;
  for (const ValueId v : of) {
    const auto one = bound(graph, v, depth + 1);
    if (one) least = std::min(least.value_or(*one), *one);
  }
  return least;
}

Result<std::vector<OpenValue>> open_outputs(const OpenAxes& open, const Graph& graph, const Op& op,
                                            const std::vector<ValueId>& inputs,
                                            const std::vector<ValueId>& outputs, ValueId count) {
  return Rules(open, graph, op, inputs, outputs, count).run();
}

Error open_axis_error(const Op& op, size_t input, int64_t axis) {
  return {ErrorCode::unsupported, std::string(op_name(op)) + ": the size of dimension " +
                                      std::to_string(axis) + " of its input " +
                                      std::to_string(input) +
                                      " is known after a run alone, and there is no rule for that"};
}

}  // namespace enginery
