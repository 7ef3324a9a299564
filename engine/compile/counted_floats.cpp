#include "engine/compile/counted_floats.h"

#include <algorithm>
#include <ranges>

#include "engine/ops/element_order.h"

namespace enginery {
namespace {

bool is_exact(BinaryKind kind) {
  return kind != BinaryKind::pow;
}

bool is_exact(UnaryKind kind) {
  return kind == UnaryKind::abs || kind == UnaryKind::neg || kind == UnaryKind::sign ||
         kind == UnaryKind::floor || kind == UnaryKind::ceil || kind == UnaryKind::round;
}

// Sums of counts have no more digits than float32.
bool is_exact(ReduceKind kind) {
  return kind == ReduceKind::sum || kind == ReduceKind::max || kind == ReduceKind::min;
}

bool is_exact(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) return is_exact(binary->kind);
  if (const auto* unary = std::get_if<Unary>(&op)) return is_exact(unary->kind);
  if (const auto* reduce = std::get_if<Reduce>(&op)) return is_exact(reduce->kind);
  return moves_elements(op) || std::holds_alternative<CumSum>(op);
}

// A matrix product of single numbers, such as positions by frequencies.
bool is_outer_product(const Graph& graph, const Node& node) {
  if (!std::holds_alternative<MatMul>(node.op)) return false;
  const auto& dims = graph.value(node.inputs[0]).type.dims;
  return !dims.empty() && dims.back() == 1;
}

bool counts(const Graph& graph, const Node& node) {
  const Op& op = node.op;
  return std::holds_alternative<Binary>(op) || std::holds_alternative<Unary>(op) ||
         std::holds_alternative<Activation>(op) || std::holds_alternative<Reduce>(op) ||
         std::holds_alternative<CumSum>(op) || moves_elements(op) || is_outer_product(graph, node);
}

// Floats to whole numbers; booleans are none.
bool makes_integers(const Op& op) {
  const auto* cast = std::get_if<Cast>(&op);
  return cast && is_integer(cast->to);
}

// As x - floor(x) and x mod 1 do.
bool takes_the_rest(const Op& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary && (binary->kind == BinaryKind::sub || binary->kind == BinaryKind::mod ||
                    binary->kind == BinaryKind::fmod);
}

bool is_angle(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  return unary && (unary->kind == UnaryKind::sin || unary->kind == UnaryKind::cos);
}

// Whether counts that the node reads must not be rounded. Whether a number is zero survives that.
bool needs_every_digit(const Graph& graph, const Node& node) {
  const auto* cast = std::get_if<Cast>(&node.op);
  const bool asks_for_zeros = cast && cast->to == DataType::boolean;
  if (is_angle(node.op)) return true;
  if (asks_for_zeros || std::holds_alternative<Shape>(node.op)) return false;
  return std::ranges::any_of(node.outputs, [&](ValueId v) {
    return v != kNoValue && !is_floating(graph.value(v).type.type);
  });
}

class Counting {
 public:
  explicit Counting(const Graph& graph) : graph_(graph) {
    const auto size = static_cast<size_t>(graph.value_count());
    varies_.resize(size);
    found_.counted.resize(size);
    found_.exact.resize(size);
    for (const ValueId v : graph.inputs()) varies_[static_cast<size_t>(v)] = true;
    for (const NodeId id : graph.topological_order()) follow(graph.node(id));
  }
  CountedFloats found() && { return std::move(found_); }

 private:
  bool varies(ValueId v) const { return v != kNoValue && varies_[static_cast<size_t>(v)]; }
  bool floats(ValueId v) const { return is_floating(graph_.value(v).type.type); }

  void follow(const Node& node) {
    const bool open = std::ranges::any_of(node.inputs, [&](ValueId v) { return varies(v); });
    const bool counted = open && is_counted(node);
    const bool exact = counted && is_exact(node.op) && reads_exact(node);
    for (const ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      varies_[static_cast<size_t>(v)] = open;
      found_.counted[static_cast<size_t>(v)] = counted && floats(v);
      found_.exact[static_cast<size_t>(v)] = exact && floats(v);
    }
  }

  // Integers become counts by Cast; other operators need a count among their floats, and no float
  // that is none.
  bool is_counted(const Node& node) const {
    if (std::holds_alternative<Cast>(node.op) && !floats(node.inputs[0])) return true;
    if (!counts(graph_, node)) return false;
    bool some = false;
    for (const ValueId v : node.inputs) {
      if (!varies(v) || !floats(v)) continue;
      if (!found_.counted[static_cast<size_t>(v)]) return false;
      some = true;
    }
    return some;
  }

  bool reads_exact(const Node& node) const {
    return std::ranges::all_of(node.inputs, [&](ValueId v) {
      return !varies(v) || !floats(v) || found_.exact[static_cast<size_t>(v)];
    });
  }

  const Graph& graph_;
  std::vector<bool> varies_;  // hangs on an input of the graph
  CountedFloats found_;
};

}  // namespace

CountedFloats counted_floats(const Graph& graph) {
  return Counting(graph).found();
}

std::vector<NodeId> counting_nodes(const Graph& graph) {
  const std::vector<bool> counted = counted_floats(graph).counted;
  const auto is_counted = [&](ValueId v) {
    return v != kNoValue && counted[static_cast<size_t>(v)];
  };
  std::vector<bool> wanted(counted.size(), false);  // counts of which every digit matters
  std::vector<NodeId> out, order = graph.topological_order();
  for (const NodeId id : std::views::reverse(order)) {
    const Node& node = graph.node(id);
    const bool reads = std::ranges::any_of(node.inputs, is_counted);
    const bool makes = std::ranges::any_of(
        node.outputs, [&](ValueId v) { return v != kNoValue && wanted[static_cast<size_t>(v)]; });
    if (!makes && !(reads && needs_every_digit(graph, node))) continue;
    for (const ValueId v : node.inputs)
      if (is_counted(v)) wanted[static_cast<size_t>(v)] = true;
    out.push_back(id);
  }
  std::ranges::reverse(out);
  return out;
}

std::vector<NodeId> placing_nodes(const Graph& graph) {
  const auto is_open = [&](ValueId v) {  // a float that is no constant
    return v != kNoValue && !graph.constant(v) && is_floating(graph.value(v).type.type);
  };
  std::vector<bool> places(static_cast<size_t>(graph.value_count()), false);
  const auto is_place = [&](ValueId v) { return v != kNoValue && places[static_cast<size_t>(v)]; };
  const auto computes_a_place = [&](const Node& node) {
    return counts(graph, node) && std::ranges::any_of(node.outputs, is_place);
  };
  const std::vector<NodeId> order = graph.topological_order();
  for (const NodeId id : std::views::reverse(order)) {
    const Node& node = graph.node(id);
    if (!makes_integers(node.op) && !computes_a_place(node)) continue;
    for (const ValueId v : node.inputs)
      if (is_open(v)) places[static_cast<size_t>(v)] = true;
  }
  std::vector<NodeId> out;
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    const bool reads_places_alone =
        std::ranges::any_of(node.inputs, is_place) &&
        std::ranges::all_of(node.inputs, [&](ValueId v) { return !is_open(v) || is_place(v); });
    const bool ends = makes_integers(node.op) || takes_the_rest(node.op);
    if ((reads_places_alone && ends) || computes_a_place(node)) out.push_back(id);
  }
  return out;
}

}  // namespace enginery
