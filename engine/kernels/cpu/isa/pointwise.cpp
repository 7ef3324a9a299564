// Chains of pointwise steps with broadcast operands, in pieces that stay in L1: every operand is
// read once from memory, the result written once.
#include "engine/kernels/cpu/isa/pointwise_steps.h"

namespace enginery {
namespace {

template <typename T>
void fetch(float* __restrict values, const T* __restrict operand, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(operand[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(operand[i * stride]);
  }
}

// The first `period` values over and over: what is there already, twice as much each time.
void repeat(float* __restrict values, const float* __restrict operand, int64_t period, int64_t n) {
  for (int64_t i = 0; i < least(period, n); ++i) values[i] = operand[i];
  for (int64_t done = period; done < n; done *= 2) {
    const int64_t some = least(done, n - done);
    float* __restrict behind = values + done;
    for (int64_t i = 0; i < some; ++i) behind[i] = values[i];
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
    return static_cast<const T*>(a.operand[o]) + at[o] + (a.period[o] > 0 ? 0 : begin * stride(o));
  }
};

// The first operand's values side by side: as they lie, or else fetched into `values`.
const float* first_values(const Piece& p, float* values) {
  const int64_t n = p.end - p.begin, stride = p.stride(0);
  switch (p.a.type[0]) {
    case PointwiseType::float32:
      if (p.a.period[0] == 0 && stride == 1) return p.operand<float>(0);
      if (p.a.period[0] > 0)
        repeat(values, p.operand<float>(0), p.a.period[0], n);
      else
        fetch(values, p.operand<float>(0), stride, n);
      break;
    case PointwiseType::boolean:
      fetch(values, p.operand<uint8_t>(0), stride, n);
      break;
    case PointwiseType::int32:
      fetch(values, p.operand<int32_t>(0), stride, n);
      break;
    case PointwiseType::int64:
      fetch(values, p.operand<int64_t>(0), stride, n);
      break;
  }
  return values;
}

void run_step(const Piece& p, const PointwiseStep& step, float* values, const float* from) {
  const int64_t n = p.end - p.begin;
  if (step.operand < 0) return apply(step, values, from, n);
  const auto* operand = p.operand<float>(step.operand);
  const int64_t stride = p.stride(step.operand), period = p.a.period[step.operand];
  float repeated[kPointwisePiece];
  if (period > 0) {
    repeat(repeated, operand, period, n);
    operand = repeated;
  }
  const bool keeps = step.function == PointwiseFunction::select;
  if (keeps || step.function == PointwiseFunction::reverse_select) {
    if (from != values) fetch(values, from, 1, n);
    return choose(values, p.operand<uint8_t>(step.condition), p.stride(step.condition), operand,
                  stride, keeps, n);
  }
  combine(step.function, values, from, operand, stride, n);
}

void run_piece(const Piece& p, float* out, bool in_place) {
  const int64_t n = p.end - p.begin, stride = p.a.out_stride[p.a.loops - 1];
  out += p.begin * stride;
  float buffer[kPointwisePiece];
  float* values = in_place ? out : buffer;
  const float* from = first_values(p, values);
  for (int s = 0; s < p.a.steps; ++s) {
    run_step(p, p.a.step[s], values, from);
    from = values;
  }
  if (from == out) return;
  if (stride == 1)
    fetch(out, from, 1, n);
  else
    for (int64_t i = 0; i < n; ++i) out[i * stride] = from[i];
}

// Whether the steps may leave their values in the output at once: no operand behind the first is
// still to be read from there.
bool may_work_in_place(const PointwiseArguments& a) {
  if (a.out_stride[a.loops - 1] != 1) return false;
  for (int o = 1; o < a.operands; ++o) {
    if (a.operand[o] == a.out) return false;
  }
  return true;
}

}  // namespace

void ENGINERY_KERNEL(pointwise)(const PointwiseArguments& a) {
  int inner = a.loops - 1;
  int64_t rows = 1, length = a.extent[inner];
  for (int d = 0; d < inner; ++d) rows *= a.extent[d];
  int64_t pieces = (length + a.piece - 1) / a.piece;
  const bool in_place = may_work_in_place(a);
#pragma omp parallel for schedule(static) if (rows * length > kMinParallelWork)
  for (int64_t task = 0; task < rows * pieces; ++task) {
    int64_t row = task / pieces, begin = task % pieces * a.piece, rest = row;
    int64_t at[kMaxPointwiseOperands] = {}, out = 0;
    for (int d = inner - 1; d >= 0; --d) {
      int64_t i = rest % a.extent[d];
      rest /= a.extent[d];
      out += i * a.out_stride[d];
      for (int o = 0; o < a.operands; ++o) at[o] += i * a.operand_stride[o][d];
    }
    run_piece({a, at, begin, least(length, begin + a.piece)}, a.out + out, in_place);
  }
}

}  // namespace enginery
