#include "tuner/gate/magnitude.h"

#include <algorithm>
#include <cmath>

#include "engine/tactics/shapes/norm_rows.h"

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

// |scale| (|x| + mean of |x|) / sqrt(variance + epsilon) + |bias|, each row with its own moments: a
// mean that is wrong by a rounding error of its sum moves every element of the row.
Magnitudes of_norm(const NormRows& rows, std::span<const Tensor* const> inputs) {
  const Tensor wide = convert(*inputs[0], DataType::float32);
  const Tensor scale = absolute(norm_factors(rows, *inputs[1]));
  const Tensor bias = rows.has_bias ? absolute(norm_factors(rows, *inputs[2])) : Tensor();
  Tensor sums(DataType::float32, wide.dims());
  const float* x = wide.data<float>().data();
  float* out = sums.mutable_data<float>().data();
  const auto n = static_cast<double>(rows.size);
  for (int64_t r = 0; r < rows.rows; ++r, x += rows.size, out += rows.size) {
    double mean = 0, size = 0, variance = 0;
    for (int64_t i = 0; rows.centred && i < rows.size; ++i)
      mean += x[i] / n, size += std::abs(x[i]) / n;
    for (int64_t i = 0; i < rows.size; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
    const double factor = 1 / std::sqrt(variance + rows.epsilon);
    for (int64_t i = 0; i < rows.size; ++i) {
      const auto at = static_cast<size_t>(rows.place(r, i));
      const double added = rows.has_bias ? bias.data<float>()[at] : 0;
      out[i] =
          static_cast<float>(scale.data<float>()[at] * (std::abs(x[i]) + size) * factor + added);
    }
  }
  return Magnitudes{std::move(sums), 1, 0};
}

// Functions that approximations miss by their scale, 1, where their value is small.
bool errs_by_its_scale(UnaryKind kind) {
  return kind != UnaryKind::exp && kind != UnaryKind::sqrt && kind != UnaryKind::reciprocal;
}

}  // namespace

bool adds_up(const Problem& p) {
  const auto* binary = std::get_if<Binary>(&p.op);
  const auto* pool = std::get_if<Pooling>(&p.op);
  const auto* global = std::get_if<GlobalPooling>(&p.op);
  const auto* reduce = std::get_if<Reduce>(&p.op);
  const auto* elements = std::get_if<ScatterElements>(&p.op);
  const auto* rows = std::get_if<ScatterNd>(&p.op);
  return (binary && (binary->kind == BinaryKind::add || binary->kind == BinaryKind::sub)) ||
         (pool && pool->kind == PoolKind::average) ||
         (global && global->kind == PoolKind::average) ||
         (reduce && (reduce->kind == ReduceKind::sum || reduce->kind == ReduceKind::mean)) ||
         (elements && elements->kind == ScatterKind::add) ||
         (rows && rows->kind == ScatterKind::add) ||
         is_one_of<Convolution, Deconvolution, MatMul, Gemm, Einsum, CumSum, BatchNorm>(p);
}

double Magnitudes::at(size_t element, double value) const {
  const double own = factor * std::abs(value);
  return (sums ? std::max<double>(own, sums->data<float>()[element]) : own) + least;
}

Result<Magnitudes> magnitudes_of(const Problem& p, std::span<const Tensor* const> inputs,
                                 const Tensor& result) {
  constexpr double kPowerGrowth = 16;  // of b log a, the exponent that pow is computed from
  if (is_one_of<BatchNorm>(p)) return of_batch_norm(p.op, inputs);
  const auto* binary = std::get_if<Binary>(&p.op);
  if (adds_up(p)) return of_sizes(binary ? Op(Binary{BinaryKind::add}) : p.op, inputs);
  if (binary) return Magnitudes{{}, binary->kind == BinaryKind::pow ? kPowerGrowth : 1, 0};
  if (const auto* reduce = std::get_if<Reduce>(&p.op)) {
    const bool logarithm =
        reduce->kind == ReduceKind::log_sum || reduce->kind == ReduceKind::log_sum_exp;
    return Magnitudes{{}, 1, logarithm ? 1.0 : 0.0};
  }
  if (const auto rows = norm_rows(p); rows.ok()) return of_norm(*rows, inputs);
  if (is_one_of<Resize, Range>(p))
    return Magnitudes{{}, 1, std::max(largest(*inputs[0]), largest(result))};
  if (const auto* unary = std::get_if<Unary>(&p.op))
    return Magnitudes{{}, 1, errs_by_its_scale(unary->kind) ? 1.0 : 0.0};
  const auto* softmax = std::get_if<Softmax>(&p.op);
  const bool bends = is_one_of<Activation>(p) || (softmax && softmax->log);
  return Magnitudes{{}, 1, bends ? 1.0 : 0.0};
}

}  // namespace enginery
