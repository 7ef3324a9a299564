#include "engine/passes/canonicalize.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

bool is_whole_plane(const Dims& dims, std::vector<int64_t> axes) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (rank < 3) return false;
  for (int64_t& a : axes) a = wrapped(a, dims.size());
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

// Whole exponents of a float's power as floats, which kernels take; those that float32 holds.
bool whole_exponents_to_floats(Graph& graph, Node& node) {
  if (std::get<Binary>(node.op).kind != BinaryKind::pow) return false;
  const Tensor* exponents = graph.constant(node.inputs[1]);
  if (!exponents || is_floating(exponents->type()) ||
      graph.value(node.inputs[0]).type.type != DataType::float32)
    return false;
  constexpr int64_t kMostExact = int64_t{1} << 24;
  const std::vector<int64_t> whole = to_int64s(*exponents);
  if (!std::ranges::all_of(whole, [](int64_t e) { return std::abs(e) <= kMostExact; }))
    return false;
  const std::string name = graph.value(node.inputs[1]).name;
  node.inputs[1] = graph.add_constant(name + ".float", convert(*exponents, DataType::float32));
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

// x - c = x + (-c), to the last bit, for the same reason.
bool difference_by_sum(Graph& graph, Node& node) {
  if (std::get<Binary>(node.op).kind != BinaryKind::sub) return false;
  const Tensor* subtrahend = graph.constant(node.inputs[1]);
  if (!subtrahend || subtrahend->type() != DataType::float32) return false;
  Tensor addend = *subtrahend;
  for (float& v : addend.mutable_data<float>()) v = -v;
  const std::string name = graph.value(node.inputs[1]).name;
  node.inputs[1] = graph.add_constant(name + ".negative", std::move(addend));
  node.op = Binary{BinaryKind::add};
  return true;
}

// The larger or smaller of x and one number: a clip with one bound, which kernels take behind
// another operator.
bool bound_by_clip(const Graph& graph, Node& node) {
  const BinaryKind kind = std::get<Binary>(node.op).kind;
  if (kind != BinaryKind::min && kind != BinaryKind::max) return false;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const size_t side : {0u, 1u}) {
    const Tensor* bound = graph.constant(node.inputs[side]);
    const ValueId x = node.inputs[1 - side];
    if (!bound || bound->size() != 1 || bound->type() != DataType::float32 ||
        graph.value(x).type != graph.value(node.outputs[0]).type)
      continue;
    const float b = bound->data<float>()[0];
    if (std::isnan(b)) continue;
    const bool is_least = kind == BinaryKind::max;
    node.op = Activation{ActivationKind::clip, is_least ? b : -kInfinity, is_least ? kInfinity : b};
    node.inputs = {x};
    return true;
  }
  return false;
}

bool simplify_binary(Graph& graph, Node& node) {
  return power_by_product(graph, node) || whole_exponents_to_floats(graph, node) ||
         division_by_product(graph, node) || difference_by_sum(graph, node) ||
         bound_by_clip(graph, node);
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

// How many planes the filter of a convolution over three dimensions takes at a time, each of them
// once; 0 where it is none such.
int64_t planes_at_a_time(const Graph& graph, const Node& node) {
  const auto* op = std::get_if<Convolution>(&node.op);
  const Tensor* weights = op && node.inputs.size() > 1 ? graph.constant(node.inputs[1]) : nullptr;
  const TensorType& x = graph.value(node.inputs[0]).type;
  if (!weights || x.type != DataType::float32 || weights->type() != DataType::float32 ||
      x.dims.size() != 5 || !is_static(x.dims) || op->groups != 1)
    return 0;
  const NodeId producer = graph.value(node.inputs[0]).producer;
  if (producer != kNoNode && std::holds_alternative<Dequantize>(graph.node(producer).op)) return 0;
  const int64_t taps = weights->dims()[2];
  const bool apart = taps > 1 && op->strides[0] == taps && op->dilations[0] == 1 &&
                     op->pads_begin[0] == 0 && op->pads_end[0] == 0 && x.dims[2] % taps == 0;
  return apart ? taps : 0;
}

Convolution without_planes(Convolution op) {
  for (auto* along : {&op.strides, &op.dilations, &op.pads_begin, &op.pads_end})
    along->erase(along->begin());
  return op;
}

// Such a convolution as one of two dimensions over the planes' channels together, as the patches
// that networks of films begin with: every device has fast ones.
Result<bool> planes_to_channels(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  const int64_t taps = planes_at_a_time(graph, node);
  if (taps == 0) return false;
  const auto add = [&](Op op, std::vector<ValueId> inputs) -> Result<ValueId> {
    TRY(const auto outputs,
        graph.add_node(node.name + "/planes", std::move(op), std::move(inputs)));
    return outputs[0];
  };
  const auto shape = [&](const Dims& dims) {
    return graph.add_constant(node.name + "/shape",
                              Tensor::of<int64_t>({std::ssize(dims)}, std::span(dims)));
  };
  const Dims x = graph.value(node.inputs[0]).type.dims, y = graph.value(node.outputs[0]).type.dims;
  const Tensor w = *graph.constant(node.inputs[1]);
  const int64_t turns = x[2] / taps;
  TRY(ValueId flow,
      add(Reshape{}, {node.inputs[0], shape({x[0], x[1], turns, taps, x[3] * x[4]})}));
  TRY(flow, add(Transpose{{0, 2, 1, 3, 4}}, {flow}));
  TRY(flow, add(Reshape{}, {flow, shape({x[0] * turns, x[1] * taps, x[3], x[4]})}));
  const Dims filter{w.dims()[0], w.dims()[1] * taps, w.dims()[3], w.dims()[4]};
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = flow;
  inputs[1] = graph.add_constant(graph.value(node.inputs[1]).name + ".planes", w.reshaped(filter));
  TRY(flow, add(without_planes(std::get<Convolution>(node.op)), inputs));
  TRY(flow, add(Reshape{}, {flow, shape({x[0], turns, y[1], y[3] * y[4]})}));
  TRY(flow, add(Transpose{{0, 2, 1, 3}}, {flow}));
  const ValueId dims = shape(y);
  graph.node(id).op = Reshape{};
  graph.node(id).inputs = {flow, dims};
  return true;
}

}  // namespace

Result<int> canonicalize(Graph& graph) {
  int changed = 0;
  for (const NodeId id : graph.topological_order()) {
    Node& node = graph.node(id);
    if (node.inputs.empty() || node.inputs[0] == kNoValue) continue;
    if (std::holds_alternative<Convolution>(node.op)) {
      TRY(const bool folded, planes_to_channels(graph, id));
      changed += folded;
      continue;
    }
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
