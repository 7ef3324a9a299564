#include "engine/passes/canonicalize.h"

#include <algorithm>
#include <cmath>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

bool is_whole_plane(const Dims& dims, std::vector<int64_t> axes) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank < 3) return false;
  for (int64_t& a : axes) a = a < 0 ? a + rank : a;
  std::sort(axes.begin(), axes.end());
  if (static_cast<int64_t>(axes.size()) != rank - 2) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<int64_t>(i) + 2) return false;
  }
  return true;
}

bool all_equal(const std::vector<int64_t>& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
}

bool covers_plane(const Pooling& pool, const Dims& dims) {
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    if (pool.kernel[i] != dims[i + 2]) return false;
  }
  return all_equal(pool.pads_begin, 0) && all_equal(pool.pads_end, 0) &&
         all_equal(pool.dilations, 1);
}

// The global pooling that this node is, or nothing.
std::optional<Op> as_global_pooling(const Graph& graph, const Node& node) {
  const TensorType& in = graph.value(node.inputs[0]).type;
  if (!is_floating(in.type) || !is_static(in.dims)) return std::nullopt;
  if (const auto* reduce = std::get_if<Reduce>(&node.op)) {
    const bool pools = reduce->kind == ReduceKind::mean || reduce->kind == ReduceKind::max;
    if (!pools || !reduce->keep_dims || !is_whole_plane(in.dims, reduce->axes)) return std::nullopt;
    return GlobalPooling{reduce->kind == ReduceKind::mean ? PoolKind::average : PoolKind::max};
  }
  if (const auto* pool = std::get_if<Pooling>(&node.op)) {
    if (node.outputs.size() != 1 || !covers_plane(*pool, in.dims)) return std::nullopt;
    return GlobalPooling{pool->kind};
  }
  return std::nullopt;
}

// y = A B + C for Gemm: its scalars go into constant operands, its transposed constant operands are
// transposed.
bool simplify_gemm(Graph& graph, Node& node) {
  Gemm gemm = std::get<Gemm>(node.op);
  const bool has_c = has_input(node, 2);
  const Tensor* b = graph.constant(node.inputs[1]);
  const Tensor* c = has_c ? graph.constant(node.inputs[2]) : nullptr;
  if ((gemm.alpha == 1 && (!has_c || gemm.beta == 1)) || !b || b->type() != DataType::float32)
    return false;
  if (has_c && (!c || c->type() != DataType::float32)) return false;
  const auto scaled = [&](const Tensor& t, float by) {
    Tensor out = t;
    for (float& x : out.mutable_data<float>()) x *= by;
    return out;
  };
  const std::string name = graph.value(node.inputs[1]).name;
  const Tensor weights =
      scaled(*b, gemm.alpha);  // both before the graph's tables grow and move b and c
  const Tensor bias = has_c ? scaled(*c, gemm.beta) : Tensor();
  node.inputs[1] = graph.add_constant(name + ".scaled", weights);
  if (has_c) node.inputs[2] = graph.add_constant(name + ".bias", bias);
  gemm.alpha = gemm.beta = 1;
  node.op = gemm;
  return true;
}

// x^2 = x x and x^-1 = 1 / x, to the last bit; the exponent is one number that does not raise the
// rank.
bool power_by_product(const Graph& graph, Node& node) {
  if (std::get<Binary>(node.op).kind != BinaryKind::pow) return false;
  const Tensor* exponent = graph.constant(node.inputs[1]);
  const TensorType& x = graph.value(node.inputs[0]).type;
  if (!exponent || exponent->size() != 1 || !is_floating(x.type) ||
      exponent->dims().size() > x.dims.size())
    return false;
  const double power = convert(*exponent, DataType::float64).data<double>()[0];
  if (power == 2) {
    node.op = Binary{BinaryKind::mul};
    node.inputs[1] = node.inputs[0];
    return true;
  }
  if (power != -1) return false;
  node.op = Unary{UnaryKind::reciprocal};
  node.inputs.resize(1);
  return true;
}

// Whether 1 / v is exact: a power of two that is far from both ends of float32.
bool has_exact_inverse(float v) {
  int exponent = 0;
  return std::abs(std::frexp(v, &exponent)) == 0.5f && std::abs(exponent) < 100;
}

// x / 2^n = x 2^-n: a product is what kernels take behind another operator.
bool division_by_product(Graph& graph, Node& node) {
  if (std::get<Binary>(node.op).kind != BinaryKind::div) return false;
  const Tensor* divisor = graph.constant(node.inputs[1]);
  if (!divisor || divisor->type() != DataType::float32 ||
      !std::ranges::all_of(divisor->data<float>(), has_exact_inverse))
    return false;
  Tensor factor = *divisor;
  for (float& v : factor.mutable_data<float>()) v = 1 / v;
  const std::string name = graph.value(node.inputs[1]).name;
  node.inputs[1] = graph.add_constant(name + ".inverse", std::move(factor));
  node.op = Binary{BinaryKind::mul};
  return true;
}

bool simplify_binary(Graph& graph, Node& node) {
  return power_by_product(graph, node) || division_by_product(graph, node);
}

// Scales that say no more than the sizes which they give become these: integers, which kernels know
// when they are chosen.
bool scales_to_sizes(Graph& graph, Node& node) {
  if (node.inputs.size() < 2 || std::get<Resize>(node.op).coordinates == ResizeCoordinates::crop)
    return false;
  const Tensor* given = graph.constant(node.inputs[1]);
  const Dims in = graph.value(node.inputs[0]).type.dims,
             out = graph.value(node.outputs[0]).type.dims;
  if (!given || given->size() != std::ssize(in) || !is_static(in) || !is_static(out) ||
      volume(in) == 0)
    return false;
  const Tensor scales = convert(*given, DataType::float32);
  for (size_t d = 0; d < in.size(); ++d) {
    if (static_cast<float>(out[d]) / static_cast<float>(in[d]) != scales.data<float>()[d])
      return false;
  }
  const std::string name = graph.value(node.inputs[1]).name;
  const ValueId sizes = graph.add_constant(
      name + ".sizes", Tensor::of<int64_t>({std::ssize(out)}, std::span<const int64_t>(out)));
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), kNoValue);
  node.inputs[1] = kNoValue;
  node.inputs[2] = sizes;
  return true;
}

}  // namespace

Result<int> canonicalize(Graph& graph) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    Node& node = graph.node(id);
    if (node.inputs.empty() || node.inputs[0] == kNoValue) continue;
    if (std::holds_alternative<Gemm>(node.op)) changed += simplify_gemm(graph, node);
    if (std::holds_alternative<Resize>(node.op)) changed += scales_to_sizes(graph, node);
    if (std::holds_alternative<Binary>(node.op)) changed += simplify_binary(graph, node);
    if (auto pooling = as_global_pooling(graph, node)) {
      node.op = *pooling;
      node.inputs.resize(1);
      ++changed;
    }
  }
  return changed;
}

}  // namespace enginery
