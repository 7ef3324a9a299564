#include "engine/passes/drop_zero_points.h"

#include <algorithm>
#include <numeric>

#include "engine/passes/counted_bytes.h"

namespace enginery {
namespace {

DataType other_eight_bits(DataType type) {
  return type == DataType::int8 ? DataType::uint8 : DataType::int8;
}

// The zero point of these integers that is 0 in the other type.
int64_t moved_zero_of(DataType type) {
  return type == DataType::int8 ? -128 : 128;
}

// How many of the first inputs hold the numbers that the operator moves, or chooses the largest of.
size_t numbers_moved(const Node& node) {
  if (std::holds_alternative<Concat>(node.op)) return node.inputs.size();
  const auto* pool = std::get_if<Pooling>(&node.op);
  const bool moves =
      std::holds_alternative<Reshape>(node.op) || std::holds_alternative<Flatten>(node.op) ||
      std::holds_alternative<Squeeze>(node.op) || std::holds_alternative<Unsqueeze>(node.op) ||
      std::holds_alternative<Transpose>(node.op) || std::holds_alternative<Slice>(node.op);
  return moves || (pool && pool->kind == PoolKind::max) ? 1 : 0;
}

// The integers that hang together by what moves them: all of them change their type, or none does.
class ByteGroups {
 public:
  explicit ByteGroups(const Graph& graph)
      : graph_(graph), above_(static_cast<size_t>(graph.value_count())), fits_(above_.size()) {
    std::iota(above_.begin(), above_.end(), 0);
    for (ValueId v = 0; v < graph.value_count(); ++v)
      fits_[static_cast<size_t>(v)] = is_eight_bits(graph.value(v).type.type) &&
                                      !graph.constant(v) && !graph.is_output(v) &&
                                      graph.value(v).producer != kNoNode;
    for (NodeId id = 0; id < graph.node_count(); ++id)
      if (!graph.node(id).erased) add(graph.node(id));
  }

  bool change(ValueId v) { return v != kNoValue && fits_[static_cast<size_t>(top_of(v))]; }

 private:
  ValueId top_of(ValueId v) {
    while (above_[static_cast<size_t>(v)] != v)
      v = above_[static_cast<size_t>(v)] =
          above_[static_cast<size_t>(above_[static_cast<size_t>(v)])];
    return v;
  }

  void join(ValueId a, ValueId b) {
    a = top_of(a);
    b = top_of(b);
    const bool fit = fits_[static_cast<size_t>(a)] && fits_[static_cast<size_t>(b)];
    above_[static_cast<size_t>(b)] = a;
    fits_[static_cast<size_t>(a)] = fit;
  }

  void refuse(ValueId v) {
    if (v != kNoValue) fits_[static_cast<size_t>(top_of(v))] = false;
  }

  // Whether the node's zero point, known, is the one that goes.
  bool is_moved(const Node& node, ValueId integers) const {
    if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return false;
    const Tensor* zeros = graph_.constant(node.inputs[2]);
    if (!zeros) return false;
    const int64_t wanted = moved_zero_of(graph_.value(integers).type.type);
    return std::ranges::all_of(to_int64s(*zeros), [&](int64_t zero) { return zero == wanted; });
  }

  void add(const Node& node) {
    const size_t numbers = numbers_moved(node);
    const bool quantizes = std::holds_alternative<Quantize>(node.op);
    const bool dequantizes = std::holds_alternative<Dequantize>(node.op);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (i < numbers)
        join(node.outputs[0], v);
      else if (i > 0 || !dequantizes || !is_moved(node, v))
        refuse(v);
    }
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const bool is_known_kind = o == 0 && (numbers > 0 || quantizes);
      if (!is_known_kind || (quantizes && !is_moved(node, node.outputs[0])))
        refuse(node.outputs[o]);
    }
  }

  const Graph& graph_;
  std::vector<ValueId> above_;  // by value; its own where it is the top one of its group
  std::vector<bool> fits_;      // by value, of top ones for the whole group
};

}  // namespace

Result<int> drop_zero_points(Graph& graph) {
  int changed = 0;
  ByteGroups groups(graph);
  std::vector<ValueId> values;
  for (ValueId v = 0; v < graph.value_count(); ++v)
    if (groups.change(v)) values.push_back(v);
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    Node& node = graph.node(id);
    if (node.erased) continue;
    auto* quantize = std::get_if<Quantize>(&node.op);
    const bool moved =
        quantize ? groups.change(node.outputs[0])
                 : std::holds_alternative<Dequantize>(node.op) && groups.change(node.inputs[0]);
    if (!moved) continue;
    if (quantize) quantize->to = other_eight_bits(quantize->to);
    node.inputs.resize(2);
    ++changed;
  }
  for (const ValueId v : values)
    graph.value(v).type.type = other_eight_bits(graph.value(v).type.type);
  return changed;
}

}  // namespace enginery
