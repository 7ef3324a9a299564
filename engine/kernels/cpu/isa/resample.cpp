// One dimension by taps: where others lie inside of it, whole rows of them are weighted and added;
// where it is the innermost, its elements are gathered one by one.
#include "engine/kernels/cpu/isa/resample.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

void weigh_row(float* __restrict out, const float* __restrict in, float weight, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] * weight;
}

void add_row(float* __restrict out, const float* __restrict in, float weight, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] += in[i] * weight;
}

void copy_whole_row(float* __restrict out, const float* __restrict in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i];
}

// Output row o of one outer index.
void resample_row(const ResampleArguments& a, const float* in, float* out, int64_t o) {
  const int64_t begin = a.first[o], end = a.first[o + 1];
  if (begin == end) {
    for (int64_t i = 0; i < a.inner; ++i) out[i] = a.fill;
    return;
  }
  const float* nearest = in + a.at[begin] * a.inner;
  if (end == begin + 1 && a.weight[begin] == 1.0f) return copy_whole_row(out, nearest, a.inner);
  weigh_row(out, nearest, a.weight[begin], a.inner);
  for (int64_t t = begin + 1; t < end; ++t)
    add_row(out, in + a.at[t] * a.inner, a.weight[t], a.inner);
}

void resample_elements(const ResampleArguments& a, const float* __restrict in,
                       float* __restrict out) {
  for (int64_t o = 0; o < a.out_size; ++o) {
    const int64_t begin = a.first[o], end = a.first[o + 1];
    float sum = begin == end ? a.fill : in[a.at[begin]] * a.weight[begin];
    for (int64_t t = begin + 1; t < end; ++t) sum += in[a.at[t]] * a.weight[t];
    out[o] = sum;
  }
}

void fill_elements(float* __restrict out, float value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = value;
}

// Rows [begin, end) of one outer index, at its ends.
void edge_rows(const ResampleArguments& a, const float* in, float* out, int64_t begin,
               int64_t end) {
  if (a.first[begin] == a.first[end])
    return fill_elements(out + begin * a.inner, a.fill, (end - begin) * a.inner);
  for (int64_t o = begin; o < end; ++o) resample_row(a, in, out + o * a.inner, o);
}

// All rows of one outer index, of which the middle ones lie side by side on both sides.
void copy_run(const ResampleArguments& a, const float* in, float* out) {
  edge_rows(a, in, out, 0, a.head);
  copy_whole_row(out + a.head * a.inner, in, a.body * a.inner);
  edge_rows(a, in, out, a.head + a.body, a.out_size);
}

template <int kFactor>
void repeat_elements_by(const float* __restrict in, float* __restrict out, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < kFactor; ++k) out[i * kFactor + k] = in[i];
}

void repeat_elements(const ResampleArguments& a, const float* in, float* out) {
  if (a.factor == 2) return repeat_elements_by<2>(in, out, a.in_size);
  if (a.factor == 4) return repeat_elements_by<4>(in, out, a.in_size);
  for (int64_t i = 0; i < a.in_size; ++i)
    for (int64_t k = 0; k < a.factor; ++k) out[i * a.factor + k] = in[i];
}

// One outer index at a time.
template <typename F>
void resample_each(const ResampleArguments& a, bool parallel, F&& f) {
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t row = 0; row < a.outer; ++row)
    f(a, a.in + row * a.in_size * a.inner, a.out + row * a.out_size * a.inner);
}

}  // namespace

void ENGINERY_KERNEL(resample)(const ResampleArguments& a) {
  const bool parallel = a.outer * a.out_size * a.inner > kMinParallelWork;
  if (a.form == ResampleForm::runs) return resample_each(a, parallel, copy_run);
  if (a.form == ResampleForm::repeats && a.inner == 1)
    return resample_each(a, parallel, repeat_elements);
  if (a.inner == 1) {
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t row = 0; row < a.outer; ++row)
      resample_elements(a, a.in + row * a.in_size, a.out + row * a.out_size);
    return;
  }
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t task = 0; task < a.outer * a.out_size; ++task) {
    const float* in = a.in + task / a.out_size * a.in_size * a.inner;
    resample_row(a, in, a.out + task * a.inner, task % a.out_size);
  }
}

}  // namespace enginery
