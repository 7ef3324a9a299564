// Normalisation of rows. A row is read twice from the nearest cache after the first time: the mean
// first, then the differences from it, since the mean of the squares would lose small variances.
#include "engine/kernels/cpu/isa/normalize.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int64_t kSumBlock = 4096;  // what is added up in float32

double sum_of_row(const float* __restrict in, int64_t size) {
  double sum = 0;
  for (int64_t at = 0; at < size; at += kSumBlock) {
    const int64_t last = least(at + kSumBlock, size);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = at; i < last; ++i) part += in[i];
    sum += part;
  }
  return sum;
}

double squares_of_row(const float* __restrict in, int64_t size, float mean) {
  double sum = 0;
  for (int64_t at = 0; at < size; at += kSumBlock) {
    const int64_t last = least(at + kSumBlock, size);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (int64_t i = at; i < last; ++i) part += (in[i] - mean) * (in[i] - mean);
    sum += part;
  }
  return sum;
}

// Each element with its own scale and bias.
void scale_elements(const NormalizeArguments& a, const float* __restrict in, float* __restrict out,
                    const float* __restrict scale, const float* __restrict bias, float mean,
                    float factor) {
  if (bias) {
#pragma omp simd
    for (int64_t i = 0; i < a.size; ++i)
      out[i] = clip((in[i] - mean) * factor * scale[i] + bias[i], a.low, a.high);
  } else {
#pragma omp simd
    for (int64_t i = 0; i < a.size; ++i)
      out[i] = clip((in[i] - mean) * factor * scale[i], a.low, a.high);
  }
}

// `each` neighbours share one of both.
void scale_channels(const NormalizeArguments& a, const float* __restrict in, float* __restrict out,
                    const float* __restrict scale, const float* __restrict bias, float mean,
                    float factor) {
  for (int64_t at = 0; at < a.size; at += a.each) {
    const int64_t channel = at / a.each, last = least(at + a.each, a.size);
    const float by = factor * scale[channel], add = bias ? bias[channel] : 0.0f;
#pragma omp simd
    for (int64_t i = at; i < last; ++i) out[i] = clip((in[i] - mean) * by + add, a.low, a.high);
  }
}

}  // namespace

void ENGINERY_KERNEL(normalize)(const NormalizeArguments& a) {
  const bool parallel = a.rows * a.size > kMinParallelWork;
#pragma omp parallel for schedule(static) if (parallel)
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* in = a.in + r * a.size;
    const double n = static_cast<double>(a.size);
    const float mean = a.centred ? static_cast<float>(sum_of_row(in, a.size) / n) : 0.0f;
    const float variance = static_cast<float>(squares_of_row(in, a.size, mean) / n);
    const float factor = 1.0f / __builtin_sqrtf(variance + a.epsilon);
    const int64_t first = r % a.period * a.step;
    const float* bias = a.bias ? a.bias + first : nullptr;
    const auto scaled = a.each == 1 ? scale_elements : scale_channels;
    scaled(a, in, a.out + r * a.size, a.scale + first, bias, mean, factor);
  }
}

}  // namespace enginery
