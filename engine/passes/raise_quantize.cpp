#include "engine/passes/raise_quantize.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "engine/passes/counted_bytes.h"
#include "engine/passes/remove_dead.h"

namespace enginery {
namespace {

// ... above 0, so that larger numbers have larger integers.
bool has_one_known_scale(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Quantize>(&node.op);
  if (!op || op->block_size != 0) return false;
  const bool known = std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    const Tensor* t = graph.constant(v);
    return v == kNoValue || (t && t->size() == 1);
  });
  return known && convert(*graph.constant(node.inputs[1]), DataType::float32).data<float>()[0] > 0;
}

// Operators over whose first input, or all of them in a Concat, a growing function of each element
// may be moved.
bool keeps_numbers(const Op& op, DataType quantized) {
  if (const auto* pool = std::get_if<Pooling>(&op))
    return pool->kind == PoolKind::max && is_eight_bits(quantized);
  return std::holds_alternative<Concat>(op) || std::holds_alternative<Reshape>(op) ||
         std::holds_alternative<Flatten>(op) || std::holds_alternative<Squeeze>(op) ||
         std::holds_alternative<Unsqueeze>(op) || std::holds_alternative<Transpose>(op);
}

// For each value of the graph before the pass its readers. What a moved operator gives has as many
// as ever: the pass puts others in their place.
using Readers = std::vector<std::vector<NodeId>>;

// How many of the operator's inputs hold the numbers.
size_t numbers_of(const Node& node) {
  return std::holds_alternative<Concat>(node.op) ? node.inputs.size() : 1;
}

// The operator over run-time values that nobody but the node reads; kNoNode where there is none.
NodeId movable_for(const Graph& graph, const Readers& readers, const Node& node) {
  const ValueId whole = node.inputs[0];
  const NodeId id = graph.value(whole).producer;
  if (id == kNoNode || !keeps_numbers(graph.node(id).op, std::get<Quantize>(node.op).to))
    return kNoNode;
  const Node& moved = graph.node(id);
  const bool varies = std::none_of(
      moved.inputs.begin(), moved.inputs.begin() + static_cast<std::ptrdiff_t>(numbers_of(moved)),
      [&](ValueId v) { return graph.constant(v) != nullptr; });
  const bool alone = readers[static_cast<size_t>(whole)].size() == 1 && !graph.is_output(whole);
  return varies && alone ? id : kNoNode;
}

// The inputs of the moved operator, its numbers quantised, each by a node of its own, which go to
// `made`.
Result<std::vector<ValueId>> quantize_parts(Graph& graph, NodeId quantize, NodeId moved,
                                            std::vector<NodeId>& made) {
  std::vector<ValueId> out = graph.node(moved).inputs;
  const size_t parts = numbers_of(graph.node(moved));
  for (size_t i = 0; i < parts; ++i) {
    const Node& node = graph.node(quantize);
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = out[i];
    const std::string name = parts > 1 ? node.name + "." + std::to_string(i) : node.name;
    TRY(const auto results, graph.add_node(name, node.op, std::move(inputs)));
    out[i] = results[0];
    made.push_back(graph.value(results[0]).producer);
  }
  return out;
}

bool is_same_number(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const Tensor *x = graph.constant(a), *y = graph.constant(b);
  return x && y && x->type() == y->type() && x->size() == 1 && y->size() == 1 &&
         std::memcmp(x->raw(), y->raw(), static_cast<size_t>(x->bytes())) == 0;
}

// The zero point of either node as a number; an absent one is 0.
int64_t zero_point_of(const Graph& graph, const Node& node) {
  const bool absent = node.inputs.size() < 3 || node.inputs[2] == kNoValue;
  return absent ? 0 : to_int64s(*graph.constant(node.inputs[2]))[0];
}

// Whether each of the integers, once it is a float, is quantised to itself.
bool come_back(const CountedBytes& from, DataType type, float scale, int64_t zero) {
  const int first = type == DataType::int8 ? -128 : 0;
  for (int i = first; i < first + 256; ++i) {
    const float number = static_cast<float>(i - from.zero) * from.step;
    if (std::nearbyint(number / scale) + static_cast<float>(zero) != static_cast<float>(i))
      return false;
  }
  return true;
}

// Those of a Cast or Dequantize before the Quantize that it gives back, whatever lies between them;
// kNoValue where it computes others.
ValueId counted_integers(const Graph& graph, const Node& node) {
  const auto from = counted_bytes(graph, node.inputs[0]);
  const Tensor& scale = *graph.constant(node.inputs[1]);
  const DataType to = std::get<Quantize>(node.op).to;
  const bool same = from && graph.value(from->bytes).type.type == to &&
                    scale.type() == DataType::float32 &&
                    come_back(*from, to, scale.data<float>()[0], zero_point_of(graph, node));
  return same ? from->bytes : kNoValue;
}

// The integers that the Quantize gives back: those of the Dequantize before it, of the same type,
// scale and zero point, or counted ones; kNoValue where it computes others.
ValueId same_integers(const Graph& graph, const Node& node) {
  if (const ValueId counted = counted_integers(graph, node); counted != kNoValue) return counted;
  const NodeId id = graph.value(node.inputs[0]).producer;
  if (id == kNoNode || !std::holds_alternative<Dequantize>(graph.node(id).op)) return kNoValue;
  const Node& from = graph.node(id);
  const auto to = std::get<Quantize>(node.op).to;
  const bool one_zero =
      from.inputs.size() < 3 || from.inputs[2] == kNoValue ||
      (graph.constant(from.inputs[2]) && graph.constant(from.inputs[2])->size() == 1);
  const bool same = graph.value(from.inputs[0]).type.type == to && is_eight_bits(to) && one_zero &&
                    std::get<Dequantize>(from.op).block_size == 0 &&
                    is_same_number(graph, node.inputs[1], from.inputs[1]) &&
                    zero_point_of(graph, node) == zero_point_of(graph, from);
  return same ? from.inputs[0] : kNoValue;
}

// `grown`: values with more readers than before the pass.
void replace(Graph& graph, const Readers& readers, const std::set<ValueId>& grown, ValueId before,
             ValueId after) {
  const auto index = static_cast<size_t>(before);
  if (index < readers.size() && !grown.contains(before))
    graph.replace_uses(before, after, readers[index]);
  else
    graph.replace_uses(before, after);
}

}  // namespace

Result<int> raise_quantize(Graph& graph) {
  int changed = 0;
  const Readers readers = graph.users();
  std::set<ValueId> grown;
  std::vector<NodeId> work = graph.topological_order();
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (!has_one_known_scale(graph, graph.node(id))) continue;
    const ValueId integers = same_integers(graph, graph.node(id));
    if (integers != kNoValue && !graph.is_output(graph.node(id).outputs[0])) {
      replace(graph, readers, grown, graph.node(id).outputs[0], integers);
      grown.insert(integers);
      graph.erase_node(id);
      ++changed;
      continue;
    }
    const NodeId moved = movable_for(graph, readers, graph.node(id));
    if (moved == kNoNode) continue;
    TRY(std::vector<ValueId> inputs, quantize_parts(graph, id, moved, work));
    const Op op = graph.node(moved).op;
    TRY(const auto results, graph.add_node(graph.node(moved).name, op, std::move(inputs)));
    replace(graph, readers, grown, graph.node(id).outputs[0], results[0]);
    graph.erase_node(id);
    graph.erase_node(moved);
    ++changed;
  }
  // What made floats for operators that read the integers now.
  if (changed > 0) {
    TRY([[maybe_unused]] const int dead, remove_dead(graph));
  }
  return changed;
}

}  // namespace enginery
