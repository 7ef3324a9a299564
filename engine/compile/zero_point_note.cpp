#include "engine/compile/zero_point_note.h"

#include <algorithm>

#include "engine/tactics/region.h"

namespace enginery {
namespace {

// The Dequantize that makes the value; null where another node does, or none.
const Node* dequantize_of(const Graph& graph, ValueId v) {
  const NodeId by = v == kNoValue ? kNoNode : graph.value(v).producer;
  if (by == kNoNode || !std::holds_alternative<Dequantize>(graph.node(by).op)) return nullptr;
  return &graph.node(by);
}

bool has_zero_point(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return false;
  const Tensor* zeros = graph.constant(node.inputs[2]);
  return !zeros || std::ranges::any_of(to_int64s(*zeros), [](int64_t zero) { return zero != 0; });
}

// Whether a region that may stand in the network reads both.
bool reads_both(const Network& network, ValueId x, ValueId w) {
  const auto reads = [](const NetworkNode& node, ValueId v) {
    return std::ranges::find(node.inputs, v) != node.inputs.end();
  };
  return std::ranges::any_of(network.alternatives, [&](const Alternative& alternative) {
    return std::ranges::any_of(alternative.instead, [&](const NetworkNode& node) {
      return is_region(node.problem) && reads(node, x) && reads(node, w);
    });
  });
}

}  // namespace

std::string zero_point_note(const Network& network) {
  const Graph& graph = network.graph;
  int products = 0, in_float = 0;
  for (const NodeId id : graph.needed_order()) {
    const Node& node = graph.node(id);
    if (!is_operator<Convolution, Gemm, MatMul>(node.op)) continue;
    const Node* x = dequantize_of(graph, node.inputs[0]);
    const Node* w = dequantize_of(graph, node.inputs[1]);
    if (!x || !w || graph.constant(x->inputs[0]) || !graph.constant(w->inputs[0])) continue;
    ++products;
    in_float += has_zero_point(graph, *x) && !reads_both(network, x->inputs[0], w->inputs[0]);
  }
  if (in_float == 0) return "";
  return "int8: " + std::to_string(in_float) + " of " + std::to_string(products) +
         " products are computed in float: their activations' zero points are not 0, and this "
         "device has no kernels for that; quantise activations symmetrically (ActivationSymmetric "
         "of "
         "onnxruntime's quantize_static), or give the float model and a calibration";
}

}  // namespace enginery
