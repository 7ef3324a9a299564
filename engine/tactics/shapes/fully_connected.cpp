#include "engine/tactics/shapes/fully_connected.h"

#include <algorithm>

namespace enginery {
namespace {

Tensor scaled(const Tensor& tensor, float factor) {
  if (factor == 1) return tensor;
  Tensor out = tensor;
  for (float& x : out.mutable_data<float>()) x *= factor;
  return out;
}

// [rows, columns] as [columns, rows].
Tensor transposed_matrix(const Tensor& matrix, int64_t rows, int64_t columns) {
  Tensor out(DataType::float32, {columns, rows});
  const auto from = matrix.data<float>();
  auto to = out.mutable_data<float>();
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r)
      to[static_cast<size_t>(c * rows + r)] = from[static_cast<size_t>(r * columns + c)];
  }
  return out;
}

// One value, or one a column.
bool runs_along_columns(const Dims& dims, int64_t n) {
  return volume(dims) == 1 || (!dims.empty() && dims.back() == n && volume(dims) == n);
}

bool all_float32(const Problem& p) {
  for (size_t i = 0; i < static_cast<size_t>(p.anchor_inputs); ++i) {
    if (p.inputs[i].present && p.inputs[i].type.type != DataType::float32) return false;
  }
  return true;
}

}  // namespace

std::optional<FullyConnected> read_fully_connected(const Problem& p) {
  if (p.anchor_inputs < 2 || !all_float32(p) || !p.inputs[1].constant || p.inputs[0].constant)
    return {};
  const Dims &x = input_dims(p, 0), &w = input_dims(p, 1);
  if (x.size() != 2 || w.size() != 2) return {};
  if (std::holds_alternative<MatMul>(p.op))
    return FullyConnected{x[0], w[1], w[0], false, 1, -1, 1};
  auto* gemm = std::get_if<Gemm>(&p.op);
  if (!gemm || gemm->transpose_a) return {};
  int64_t n = gemm->transpose_b ? w[0] : w[1];
  FullyConnected fc{x[0], n, x[1], gemm->transpose_b, gemm->alpha, -1, gemm->beta};
  bool has_addend = p.anchor_inputs > 2 && p.inputs[2].present;
  if (has_addend && (!p.inputs[2].constant || !runs_along_columns(input_dims(p, 2), n))) return {};
  if (has_addend) fc.addend = 2;
  return fc;
}

std::optional<Problem> of_all_rows(const Problem& p) {
  const Dims &x = input_dims(p, 0), &w = input_dims(p, 1), &y = output_dims(p);
  if (x.size() < 3 || w.size() != 2 || !p.inputs[1].constant || y.size() != x.size()) return {};
  Problem out = p;
  const Dims rows{volume(y) / y.back(), y.back()};
  for (const EpilogueStep& step : p.epilogue) {
    if (step.operand < 0) continue;
    Dims& operand = out.inputs[static_cast<size_t>(step.operand)].type.dims;
    if (operand == y)
      operand = rows;
    else if (volume(operand) != 1 && (operand.back() != y.back() || volume(operand) != y.back()))
      return {};
    else
      operand = {volume(operand)};
  }
  out.inputs[0].type.dims = {rows[0], x.back()};
  out.outputs[0].type.dims = rows;
  return out;
}

Tensor weights_of(const FullyConnected& fc, Weights weights) {
  return scaled(*weights[1], fc.factor);
}

Tensor weights_by_output(const FullyConnected& fc, Weights weights) {
  Tensor w = weights_of(fc, weights);
  return fc.weights_are_nk ? w : transposed_matrix(w, fc.k, fc.n);
}

Tensor addend_of(const FullyConnected& fc, Weights weights) {
  const Tensor& given = *weights[static_cast<size_t>(fc.addend)];
  if (given.size() == fc.n) return scaled(given.reshaped({fc.n}), fc.addend_factor);
  Tensor out(DataType::float32, {fc.n});
  std::ranges::fill(out.mutable_data<float>(), given.data<float>()[0] * fc.addend_factor);
  return out;
}

}  // namespace enginery
