#include "engine/tactics/shapes/gemm_shape.h"

#include <algorithm>

namespace enginery {
namespace {

GemmShape from_gemm_op(const Problem& problem, const Gemm& op) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  GemmShape s;
  s.m = a[op.transpose_a ? 1 : 0];
  s.k = a[op.transpose_a ? 0 : 1];
  s.n = b[op.transpose_b ? 0 : 1];
  s.a_stride_m = op.transpose_a ? 1 : a[1];
  s.a_stride_k = op.transpose_a ? a[1] : 1;
  s.b_stride_k = op.transpose_b ? 1 : b[1];
  s.b_stride_n = op.transpose_b ? b[1] : 1;
  s.alpha = op.alpha;
  if (problem.anchor_inputs > 2 && problem.inputs[2].present) s.bias = {2, op.beta};
  return s;
}

Dims batch_of(const Dims& dims) {
  return Dims(dims.begin(), dims.end() - std::min<std::ptrdiff_t>(2, std::ssize(dims)));
}

// How an operand's matrices, `matrix` elements each, follow one another over the output's batches.
BroadcastStrides batch_strides(const Dims& own, const Dims& other, int64_t matrix) {
  const size_t rank = std::max(own.size(), other.size());
  const Dims mine = aligned(own, rank), others = aligned(other, rank), strides = strides_of(mine);
  BroadcastStrides out;
  for (size_t d = 0; d < rank; ++d)
    out.append(std::max(mine[d], others[d]), mine[d] == 1 ? 0 : strides[d] * matrix);
  return out;
}

// A vector by a matrix is a row; a matrix by a vector is the row of the transposed product.
GemmShape from_matmul(const Problem& problem) {
  const Dims &a = problem.inputs[0].type.dims, &b = problem.inputs[1].type.dims;
  GemmShape s;
  Dims a_batch = batch_of(a), b_batch = batch_of(b);
  s.k = a.back();
  if (b.size() == 1) {
    s.a = 1;
    s.b = 0;
    std::swap(a_batch, b_batch);
    s.n = a.size() > 1 ? a[a.size() - 2] : 1;
    s.b_stride_n = a.back();
    s.b_stride_k = 1;
  } else {
    s.m = a.size() > 1 ? a[a.size() - 2] : 1;
    s.a_stride_m = a.back();
    s.n = b.back();
    s.b_stride_k = b.back();
  }
  s.a_batch = batch_strides(a_batch, b_batch, s.m * s.k);
  s.b_batch = batch_strides(b_batch, a_batch, s.n * s.k);
  return s;
}

}  // namespace

Result<GemmShape> gemm_shape(const Problem& problem) {
  const auto* gemm = std::get_if<Gemm>(&problem.op);
  if (!gemm && !std::holds_alternative<MatMul>(problem.op)) return refusal("no matrix product");
  CHECK_OK(require_static(problem));
  const TensorType& y = problem.outputs[0].type;
  if (!is_floating(y.type)) return refusal("a matrix product of integers");
  if (y.dims.empty() || volume(y.dims) == 0 || volume(problem.inputs[0].type.dims) == 0)
    return refusal("no elements, or one alone");
  GemmShape s = gemm ? from_gemm_op(problem, *gemm) : from_matmul(problem);
  s.batches = volume(y.dims) / (s.m * s.n);
  return s;
}

}  // namespace enginery
