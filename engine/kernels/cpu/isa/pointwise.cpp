// Chains of pointwise steps with broadcast operands, in pieces that stay in L1: every operand is
// read once from memory, the result written once.
#include "engine/kernels/cpu/isa/pointwise_steps.h"

namespace enginery {
namespace {

constexpr int64_t kPiece = 512;

void fetch(float* __restrict values, const float* __restrict operand, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) values[i] = operand[i];
  } else {
    for (int64_t i = 0; i < n; ++i) values[i] = operand[i * stride];
  }
}

// Elements [begin, end) of one row whose operands start at `at`.
void run_piece(const PointwiseArguments& a, const int64_t* at, int64_t begin, int64_t end,
               float* out) {
  int inner = a.loops - 1;
  int64_t n = end - begin;
  auto operand = [&](int o) { return a.operand[o] + at[o] + begin * a.operand_stride[o][inner]; };
  float values[kPiece];
  fetch(values, operand(0), a.operand_stride[0][inner], n);
  for (int s = 0; s < a.steps; ++s) {
    const PointwiseStep& step = a.step[s];
    if (step.operand < 0)
      apply(step, values, n);
    else
      combine(step.function, values, operand(step.operand), a.operand_stride[step.operand][inner],
              n);
  }
  int64_t stride = a.out_stride[inner];
  out += begin * stride;
  if (stride == 1)
    fetch(out, values, 1, n);
  else
    for (int64_t i = 0; i < n; ++i) out[i * stride] = values[i];
}

}  // namespace

void ENGINERY_KERNEL(pointwise)(const PointwiseArguments& a) {
  int inner = a.loops - 1;
  int64_t rows = 1, length = a.extent[inner];
  for (int d = 0; d < inner; ++d) rows *= a.extent[d];
  int64_t pieces = (length + kPiece - 1) / kPiece;
#pragma omp parallel for schedule(static) if (rows * length > kMinParallelWork)
  for (int64_t task = 0; task < rows * pieces; ++task) {
    int64_t row = task / pieces, begin = task % pieces * kPiece, rest = row;
    int64_t at[kMaxPointwiseOperands] = {}, out = 0;
    for (int d = inner - 1; d >= 0; --d) {
      int64_t i = rest % a.extent[d];
      rest /= a.extent[d];
      out += i * a.out_stride[d];
      for (int o = 0; o < a.operands; ++o) at[o] += i * a.operand_stride[o][d];
    }
    run_piece(a, at, begin, least(length, begin + kPiece), a.out + out);
  }
}

}  // namespace enginery
