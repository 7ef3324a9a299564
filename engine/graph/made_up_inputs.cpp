#include "engine/graph/made_up_inputs.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace enginery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// How far a range reaches that is open at one end.
constexpr double kFloatSpan = 2, kIntegerSpan = 7;

// The smallest and the largest element of a constant.
std::optional<InputRange> extremes(const Tensor* constant) {
  if (!constant || constant->size() == 0) return std::nullopt;
  const Tensor wide = convert(*constant, DataType::float64);
  const auto [low, high] = std::ranges::minmax(wide.data<double>());
  return InputRange{low, high};
}

bool is_whole(const Tensor* constant) {
  if (!constant) return false;
  const Tensor wide = convert(*constant, DataType::float64);
  return std::ranges::all_of(wide.data<double>(), [](double v) { return v == std::trunc(v); });
}

// What every value may be, from what reads it.
class Demands {
 public:
  explicit Demands(const Graph& graph)
      : graph_(graph), ranges_(static_cast<size_t>(graph.value_count())) {
    const std::vector<NodeId> order = graph.topological_order();
    for (size_t i = order.size(); i-- > 0;) {
      const Node& node = graph.node(order[i]);
      if (node.inputs.empty() || node.inputs[0] == kNoValue) continue;
      demand(node);
      pass_back(node);
    }
  }
  const InputRange& of(ValueId v) const { return ranges_[static_cast<size_t>(v)]; }

 private:
  void narrow(ValueId v, InputRange by) {
    if (v == kNoValue || graph_.constant(v)) return;
    InputRange& range = ranges_[static_cast<size_t>(v)];
    by.low = std::max(by.low, range.low);
    by.high = std::min(by.high, range.high);
    if (!is_floating(graph_.value(v).type.type)) {
      by.low = std::ceil(by.low);
      by.high = std::floor(by.high);
    }
    if (by.low <= by.high) range = by;
  }

  // Positions along the dimensions [first, first + count) of `data`.
  void index(ValueId indices, ValueId data, int64_t first, int64_t count) {
    const Dims& dims = graph_.value(data).type.dims;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int64_t d = first; d < first + count && d < std::ssize(dims); ++d)
      least = std::min(least, dims[static_cast<size_t>(d)]);
    if (least > 0 && count > 0) narrow(indices, {0, static_cast<double>(least - 1)});
  }
  int64_t wrapped(int64_t axis, ValueId data) const {
    return axis < 0 ? axis + std::ssize(graph_.value(data).type.dims) : axis;
  }
  int64_t tuple_size(ValueId indices) const {
    const Dims& dims = graph_.value(indices).type.dims;
    return dims.empty() ? 0 : dims.back();
  }

  // What the operator itself asks of its inputs.
  void demand(const Node& node) {
    const ValueId first = node.inputs[0];
    if (const auto* op = std::get_if<Gather>(&node.op))
      index(node.inputs[1], first, wrapped(op->axis, first), 1);
    if (const auto* op = std::get_if<GatherElements>(&node.op))
      index(node.inputs[1], first, wrapped(op->axis, first), 1);
    if (const auto* op = std::get_if<ScatterElements>(&node.op))
      index(node.inputs[1], first, wrapped(op->axis, first), 1);
    if (const auto* op = std::get_if<GatherNd>(&node.op))
      index(node.inputs[1], first, op->batch_dims, tuple_size(node.inputs[1]));
    if (std::holds_alternative<ScatterNd>(node.op))
      index(node.inputs[1], first, 0, tuple_size(node.inputs[1]));
    if (const auto* op = std::get_if<Unary>(&node.op)) demand(op->kind, first);
    if (const auto* op = std::get_if<Binary>(&node.op)) demand(op->kind, node);
  }

  void demand(UnaryKind kind, ValueId x) {
    switch (kind) {
      case UnaryKind::log:
      case UnaryKind::sqrt:
      case UnaryKind::reciprocal:
        return narrow(x, {0.1, kInfinity});
      case UnaryKind::asin:
      case UnaryKind::acos:
      case UnaryKind::atanh:
        return narrow(x, {-0.9, 0.9});
      case UnaryKind::acosh:
        return narrow(x, {1.1, kInfinity});
      default:
        return;
    }
  }

  void demand(BinaryKind kind, const Node& node) {
    const ValueId right = node.inputs[1];
    const bool floats = is_floating(graph_.value(node.inputs[0]).type.type);
    if (kind == BinaryKind::div || kind == BinaryKind::mod || kind == BinaryKind::fmod)
      narrow(right, floats ? InputRange{0.5, 2} : InputRange{1, kIntegerSpan});
    if (kind == BinaryKind::shift_left || kind == BinaryKind::shift_right)
      narrow(right, {0, kIntegerSpan});
    if (kind == BinaryKind::pow && floats && !is_whole(graph_.constant(right)))
      narrow(node.inputs[0], {0.1, kInfinity});
  }

  // What is asked of the output, as a demand on the inputs that it is made of.
  void pass_back(const Node& node) {
    for (const ValueId output : node.outputs) {
      const InputRange wanted = of(output);
      if (wanted == InputRange{}) continue;
      if (const auto* binary = std::get_if<Binary>(&node.op)) {
        pass_back(binary->kind, node, wanted);
      } else if (const auto* unary = std::get_if<Unary>(&node.op)) {
        if (unary->kind == UnaryKind::neg) narrow(node.inputs[0], {-wanted.high, -wanted.low});
      } else if (std::holds_alternative<Concat>(node.op)) {
        for (const ValueId v : node.inputs) narrow(v, wanted);
      } else if (std::holds_alternative<Where>(node.op)) {
        narrow(node.inputs[1], wanted);
        narrow(node.inputs[2], wanted);
      } else if (moves_or_casts(node.op)) {
        narrow(node.inputs[0], wanted);
      }
    }
  }

  static bool moves_or_casts(const Op& op) {
    return std::visit(
        [](const auto& o) {
          using T = std::decay_t<decltype(o)>;
          if constexpr (std::is_same_v<T, Activation>)
            return o.kind == ActivationKind::relu || o.kind == ActivationKind::clip;
          else
            return T::kMovesElements && !std::is_same_v<T, Shape> &&
                   !std::is_same_v<T, ConstantOfShape>;
        },
        op);
  }

  void pass_back(BinaryKind kind, const Node& node, const InputRange& wanted) {
    for (const size_t side : {0, 1}) {
      const ValueId x = node.inputs[side];
      const auto other = extremes(graph_.constant(node.inputs[1 - side]));
      if (!other) continue;
      const InputRange& c = *other;
      if (kind == BinaryKind::add) narrow(x, {wanted.low - c.low, wanted.high - c.high});
      if (kind == BinaryKind::sub && side == 0)
        narrow(x, {wanted.low + c.high, wanted.high + c.low});
      if (kind == BinaryKind::sub && side == 1)
        narrow(x, {c.high - wanted.high, c.low - wanted.low});
      if (kind == BinaryKind::min || kind == BinaryKind::max) narrow(x, wanted);
      const bool one = c.low == c.high && c.low != 0;
      if (kind == BinaryKind::mul && one)
        narrow(x, ordered(wanted.low / c.low, wanted.high / c.low));
      if (kind == BinaryKind::div && one && side == 0)
        narrow(x, ordered(wanted.low * c.low, wanted.high * c.low));
    }
  }
  static InputRange ordered(double a, double b) { return {std::min(a, b), std::max(a, b)}; }

  const Graph& graph_;
  std::vector<InputRange> ranges_;
};

// A range with two ends.
InputRange closed(InputRange range, double span) {
  if (std::isinf(range.low) && std::isinf(range.high)) return {-1, 1};
  if (std::isinf(range.low)) range.low = range.high - span;
  if (std::isinf(range.high)) range.high = range.low + span;
  return range;
}

Tensor made_up_floats(const TensorType& type, const InputRange& range, std::mt19937_64& random) {
  Tensor out(DataType::float32, type.dims);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const bool bounded = range != InputRange{};
  const InputRange ends = closed(range, kFloatSpan);
  const double middle = (ends.low + ends.high) / 2, half = (ends.high - ends.low) / 2;
  float slow = 0, fast = 0;
  for (float& v : out.mutable_data<float>()) {
    slow += 0.02f * (uniform(random) - slow);
    fast += 0.5f * (uniform(random) - fast);
    v = 4 * slow + fast;
    if (bounded)
      v = static_cast<float>(middle + half * std::clamp(static_cast<double>(v), -1., 1.));
  }
  return convert(out, type.type);
}

}  // namespace

std::vector<InputRange> input_ranges(const Graph& graph) {
  const Demands demands(graph);
  std::vector<InputRange> out;
  for (const ValueId v : graph.inputs()) out.push_back(demands.of(v));
  return out;
}

Tensor made_up_input(const TensorType& type, const InputRange& range, uint64_t seed) {
  std::mt19937_64 random(seed);
  if (is_floating(type.type)) return made_up_floats(type, range, random);
  InputRange ends{1, 1};
  if (range != InputRange{}) ends = closed(range, kIntegerSpan);
  // Positions beyond a million tell nothing more, and every integer type's conversion saturates.
  const auto low = static_cast<int64_t>(std::clamp(ends.low, -1e15, 1e15));
  const auto high = std::max(low, static_cast<int64_t>(std::clamp(ends.high, -1e15, 1e15)));
  std::uniform_int_distribution<int64_t> uniform(low, high);
  Tensor out(DataType::int64, type.dims);
  const auto values = out.mutable_data<int64_t>();
  for (int64_t& v : values) v = uniform(random);
  // The ends are where a wrong kernel goes wrong first.
  if (values.size() > 1) values[1] = low;
  if (!values.empty()) values[0] = high;
  return convert(out, type.type);
}

std::vector<Tensor> made_up_inputs(const Graph& graph, uint64_t seed) {
  const std::vector<InputRange> ranges = input_ranges(graph);
  std::vector<Tensor> out;
  for (size_t i = 0; i < ranges.size(); ++i)
    out.push_back(made_up_input(graph.value(graph.inputs()[i]).type, ranges[i], seed + i));
  return out;
}

}  // namespace enginery
