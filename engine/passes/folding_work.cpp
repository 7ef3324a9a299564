#include "engine/passes/folding_work.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/element_order.h"

namespace enginery {
namespace {

// An element that is read or written costs as much as this many operations of a product.
constexpr double kOperationsAnElement = 8;

double size_of(const Graph& graph, ValueId v) {
  return v == kNoValue ? 0 : static_cast<double>(volume(graph.value(v).type.dims));
}

// Size `from_right` of an input's dims, counted from the last, which is 1.
double dim_of(const Graph& graph, const Node& node, size_t input, size_t from_right) {
  const Dims& dims = graph.value(node.inputs[input]).type.dims;
  return dims.size() < from_right ? 1.0 : static_cast<double>(dims[dims.size() - from_right]);
}

double einsum_work(const Graph& graph, const Node& node, double made) {
  double product = 1;
  for (const ValueId v : node.inputs) product *= std::max(size_of(graph, v), 1.0);
  return 2 * std::max(made, std::sqrt(product * std::max(made, 1.0)));
}

// Beyond reading inputs and writing outputs, of which `made` elements are written: an output
// element takes as many operations as its operator reduces over.
double inner_work(const Graph& graph, const Node& node, double made) {
  if (std::holds_alternative<MatMul>(node.op)) return 2 * made * dim_of(graph, node, 0, 1);
  if (const auto* gemm = std::get_if<Gemm>(&node.op))
    return 2 * made * dim_of(graph, node, 0, gemm->transpose_a ? 2 : 1);
  if (std::holds_alternative<Convolution>(node.op)) {
    const double channels = static_cast<double>(graph.value(node.inputs[1]).type.dims[0]);
    return 2 * made * size_of(graph, node.inputs[1]) / std::max(channels, 1.0);
  }
  if (std::holds_alternative<Deconvolution>(node.op))
    return 2 * size_of(graph, node.inputs[0]) * size_of(graph, node.inputs[1]);
  if (std::holds_alternative<Einsum>(node.op)) return einsum_work(graph, node, made);
  if (const auto* pool = std::get_if<Pooling>(&node.op)) {
    double window = 1;
    for (const int64_t k : pool->kernel) window *= static_cast<double>(k);
    return made * window;
  }
  if (const auto* lrn = std::get_if<Lrn>(&node.op)) return made * static_cast<double>(lrn->size);
  return 0;
}

}  // namespace

double folding_work(const Graph& graph, const Node& node) {
  double read = 0, made = 0;
  for (const ValueId v : node.inputs) read += size_of(graph, v);
  for (const ValueId v : node.outputs) made += size_of(graph, v);
  // What moves elements reads those that it writes, of however large a table.
  if (moves_elements(node.op)) read = std::min(read, made);
  return kOperationsAnElement * (read + made) + inner_work(graph, node, made);
}

}  // namespace enginery
