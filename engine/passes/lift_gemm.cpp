#include "engine/passes/lift_gemm.h"

#include "engine/ops/element_order.h"
#include "engine/passes/pattern_matcher.h"
#include "engine/passes/permutation.h"

namespace enginery {
namespace {

// What a Gemm flattened, and the reshape that takes it back.
struct Flattened {
  ValueId x = kNoValue;
  NodeId restored = kNoNode;
};

std::optional<Flattened> read_flattened(const Graph& graph, const Matcher& matcher,
                                        const Node& gemm) {
  const Node* above = matcher.producer(gemm.inputs[0]);
  const NodeId below = matcher.only_reader(gemm);
  if (!above || !keeps_element_order(above->op) || below == kNoNode) return std::nullopt;
  if (!keeps_element_order(graph.node(below).op)) return std::nullopt;
  const ValueId y = graph.node(below).outputs[0];
  const Dims x = graph.value(above->inputs[0]).type.dims,
             rows = graph.value(gemm.inputs[0]).type.dims;
  Dims restored = x;
  if (x.size() < 3 || !is_static(x) || x.back() != rows[1]) return std::nullopt;
  restored.back() = graph.value(gemm.outputs[0]).type.dims[1];
  if (graph.value(y).type.dims != restored || graph.is_output(y)) return std::nullopt;
  return Flattened{above->inputs[0], below};
}

// A vector beside each row, or nothing.
bool has_plain_bias(const Graph& graph, const Node& gemm) {
  if (!has_input(gemm, 2)) return true;
  const Dims& bias = graph.value(gemm.inputs[2]).type.dims;
  return bias.size() == 1 || (bias.size() == 2 && bias[0] == 1);
}

bool is_plain(const Graph& graph, const Node& node) {
  const auto* gemm = std::get_if<Gemm>(&node.op);
  if (!gemm || gemm->alpha != 1 || gemm->beta != 1 || gemm->transpose_a) return false;
  return graph.constant(node.inputs[1]) && has_plain_bias(graph, node);
}

// The weights as [depth, columns].
Result<ValueId> weights_of(Graph& graph, const Node& node) {
  if (!std::get<Gemm>(node.op).transpose_b) return node.inputs[1];
  TRY(Tensor turned, transposed(*graph.constant(node.inputs[1]), {1, 0}));
  return graph.add_constant(graph.value(node.inputs[1]).name + ".turned", std::move(turned));
}

Status lift(Graph& graph, NodeId id, const Flattened& flattened) {
  const Node gemm = graph.node(id);
  const ValueId y = graph.node(flattened.restored).outputs[0];
  TRY(const ValueId weights, weights_of(graph, gemm));
  graph.node(id).op = MatMul{};
  graph.node(id).inputs = {flattened.x, weights};
  graph.value(gemm.outputs[0]).type = graph.value(y).type;
  if (has_input(gemm, 2)) {
    graph.node(flattened.restored).op = Binary{BinaryKind::add};
    graph.node(flattened.restored).inputs = {gemm.outputs[0], gemm.inputs[2]};
    return {};
  }
  graph.replace_uses(y, gemm.outputs[0]);
  graph.erase_node(flattened.restored);
  return {};
}

}  // namespace

Result<int> lift_gemm(Graph& graph) {
  int changed = 0;
  const Matcher matcher(graph);
  for (const NodeId id : graph.topological_order()) {
    if (graph.node(id).erased || !is_plain(graph, graph.node(id))) continue;
    const auto flattened = read_flattened(graph, matcher, graph.node(id));
    if (!flattened) continue;
    CHECK_OK(lift(graph, id, *flattened));
    ++changed;
  }
  return changed;
}

}  // namespace enginery
