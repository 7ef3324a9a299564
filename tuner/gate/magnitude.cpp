#include "tuner/gate/magnitude.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

Tensor absolute(const Tensor& t) {
  Tensor out = convert(t, DataType::float32);
  for (float& v : out.mutable_data<float>()) v = std::abs(v);
  return out;
}

Tensor negative(const Tensor& t) {
  Tensor out = absolute(t);
  for (float& v : out.mutable_data<float>()) v = -v;
  return out;
}

double largest(const Tensor& t) {
  const Tensor wide = convert(t, DataType::float32);
  double out = 0;
  for (const float v : wide.data<float>()) {
    if (std::isfinite(v)) out = std::max(out, static_cast<double>(std::abs(v)));
  }
  return out;
}

// The operator on the sizes of its inputs: sums without what cancels in them.
Result<Magnitudes> of_sizes(const Op& op, std::span<const Tensor* const> inputs) {
  std::vector<Tensor> sizes;
  sizes.reserve(inputs.size());
  std::vector<const Tensor*> in;
  for (const Tensor* t : inputs)
    in.push_back(t && is_floating(t->type()) ? &sizes.emplace_back(absolute(*t)) : t);
  TRY(auto sums, run_reference(op, in));
  return Magnitudes{convert(sums[0], DataType::float32), 1, 0};
}

// |scale| (|x| + |mean|) / sqrt(variance + epsilon) + |bias|
Result<Magnitudes> of_batch_norm(const Op& op, std::span<const Tensor* const> inputs) {
  const Tensor x = absolute(*inputs[0]), scale = absolute(*inputs[1]), bias = absolute(*inputs[2]),
               mean = negative(*inputs[3]);
  TRY(auto sums,
      run_reference(op, std::vector<const Tensor*>{&x, &scale, &bias, &mean, inputs[4]}));
  return Magnitudes{convert(sums[0], DataType::float32), 1, 0};
}

// Functions that approximations miss by their scale, 1, where their value is small.
bool errs_by_its_scale(UnaryKind kind) {
  return kind != UnaryKind::exp && kind != UnaryKind::sqrt && kind != UnaryKind::reciprocal;
}

bool is_sum(ReduceKind kind) {
  return kind == ReduceKind::sum || kind == ReduceKind::mean;
}

}  // namespace

double Magnitudes::at(size_t element, double value) const {
  const double own = factor * std::abs(value);
  return (sums ? std::max<double>(own, sums->data<float>()[element]) : own) + least;
}

Result<Magnitudes> magnitudes_of(const Problem& p, std::span<const Tensor* const> inputs,
                                 const Tensor& result) {
  constexpr double kPowerGrowth = 16;  // of b log a, the exponent that pow is computed from
  if (const auto* binary = std::get_if<Binary>(&p.op)) {
    if (binary->kind == BinaryKind::add || binary->kind == BinaryKind::sub)
      return of_sizes(Binary{BinaryKind::add}, inputs);
    return Magnitudes{{}, binary->kind == BinaryKind::pow ? kPowerGrowth : 1, 0};
  }
  const auto* pool = std::get_if<Pooling>(&p.op);
  const auto* global = std::get_if<GlobalPooling>(&p.op);
  const auto* reduce = std::get_if<Reduce>(&p.op);
  if ((pool && pool->kind == PoolKind::average) || (global && global->kind == PoolKind::average) ||
      (reduce && is_sum(reduce->kind)) || is_one_of<CumSum, Einsum, MatMul, Gemm>(p))
    return of_sizes(p.op, inputs);
  if (reduce) {
    const bool logarithm =
        reduce->kind == ReduceKind::log_sum || reduce->kind == ReduceKind::log_sum_exp;
    return Magnitudes{{}, 1, logarithm ? 1.0 : 0.0};
  }
  if (is_one_of<BatchNorm>(p)) return of_batch_norm(p.op, inputs);
  // Every element is made of a whole group's: the group's size counts, taken as the largest.
  if (is_one_of<InstanceNorm, LayerNorm>(p)) return Magnitudes{{}, 1, largest(result)};
  if (is_one_of<Resize, Range>(p))
    return Magnitudes{{}, 1, std::max(largest(*inputs[0]), largest(result))};
  if (const auto* unary = std::get_if<Unary>(&p.op))
    return Magnitudes{{}, 1, errs_by_its_scale(unary->kind) ? 1.0 : 0.0};
  const auto* softmax = std::get_if<Softmax>(&p.op);
  const bool bends = is_one_of<Activation>(p) || (softmax && softmax->log);
  return Magnitudes{{}, 1, bends ? 1.0 : 0.0};
}

}  // namespace enginery
