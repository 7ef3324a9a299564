// Chains of pointwise steps with broadcast operands, in pieces that stay in L1: every operand is
// read once from memory, the result written once.
#include "engine/kernels/cpu/isa/pointwise_steps.h"

namespace enginery {
namespace {

constexpr int64_t kPiece = 512;

template <typename T>
void fetch(float* __restrict values, const T* __restrict operand, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(operand[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(operand[i * stride]);
  }
}

// values = condition == keeps ? values : others.
void choose(float* __restrict values, const uint8_t* __restrict condition, int64_t condition_stride,
            const float* __restrict others, int64_t stride, bool keeps, int64_t n) {
  if (condition_stride == 1 && stride == 0) {
    const float other = *others;
    for (int64_t i = 0; i < n; ++i) values[i] = (condition[i] != 0) == keeps ? values[i] : other;
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if ((condition[i * condition_stride] != 0) != keeps) values[i] = others[i * stride];
  }
}

// Part of a row of the output, and where the row's operands start.
struct Piece {
  const PointwiseArguments& a;
  const int64_t* at;
  int64_t begin, end;

  int64_t stride(int operand) const { return a.operand_stride[operand][a.loops - 1]; }
  template <typename T>
  const T* operand(int o) const {
    return static_cast<const T*>(a.operand[o]) + at[o] + begin * stride(o);
  }
};

void fetch_first(const Piece& p, float* values) {
  const int64_t n = p.end - p.begin, stride = p.stride(0);
  switch (p.a.type[0]) {
    case PointwiseType::float32:
      return fetch(values, p.operand<float>(0), stride, n);
    case PointwiseType::boolean:
      return fetch(values, p.operand<uint8_t>(0), stride, n);
    case PointwiseType::int32:
      return fetch(values, p.operand<int32_t>(0), stride, n);
    case PointwiseType::int64:
      return fetch(values, p.operand<int64_t>(0), stride, n);
  }
}

void run_step(const Piece& p, const PointwiseStep& step, float* values) {
  const int64_t n = p.end - p.begin;
  if (step.operand < 0) return apply(step, values, n);
  const auto* operand = p.operand<float>(step.operand);
  const int64_t stride = p.stride(step.operand);
  const bool keeps = step.function == PointwiseFunction::select;
  if (keeps || step.function == PointwiseFunction::reverse_select)
    return choose(values, p.operand<uint8_t>(step.condition), p.stride(step.condition), operand,
                  stride, keeps, n);
  combine(step.function, values, operand, stride, n);
}

void run_piece(const Piece& p, float* out) {
  const int64_t n = p.end - p.begin, stride = p.a.out_stride[p.a.loops - 1];
  float values[kPiece];
  fetch_first(p, values);
  for (int s = 0; s < p.a.steps; ++s) run_step(p, p.a.step[s], values);
  out += p.begin * stride;
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
    run_piece({a, at, begin, least(length, begin + kPiece)}, a.out + out);
  }
}

}  // namespace enginery
