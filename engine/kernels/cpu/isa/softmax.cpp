// Softmax over the middle of [outer, size, inner], shifted by the maximum. Rows of two (detectors'
// scores) are a sigmoid of the difference, many rows to a vector.
#include "engine/kernels/cpu/isa/softmax.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

void softmax_pairs(const float* __restrict in, float* __restrict out, int64_t rows) {
#pragma omp simd
  for (int64_t r = 0; r < rows; ++r) {
    float e = fast_exp_or_zero(-__builtin_fabsf(in[2 * r] - in[2 * r + 1]));
    float larger = 1.0f / (1.0f + e), smaller = e * larger;
    bool first = in[2 * r] > in[2 * r + 1];
    out[2 * r] = first ? larger : smaller;
    out[2 * r + 1] = first ? smaller : larger;
  }
}

void softmax_row(const float* __restrict in, float* __restrict out, int64_t size, bool log) {
  float peak = -__builtin_inff(), sum = 0;
#pragma omp simd reduction(max : peak)
  for (int64_t i = 0; i < size; ++i) peak = in[i] > peak ? in[i] : peak;
  const int64_t whole = size / kWidth * kWidth;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < whole; ++i) {
    float e = fast_exp_or_zero(in[i] - peak);
    out[i] = e;
    sum += e;
  }
  if (whole < size) {  // the last elements as one vector, padded with -infinity
    float rest[kWidth];
    for (int64_t i = 0; i < kWidth; ++i)
      rest[i] = whole + i < size ? in[whole + i] : -__builtin_inff();
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < kWidth; ++i) {
      rest[i] = fast_exp_or_zero(rest[i] - peak);
      sum += rest[i];
    }
    for (int64_t i = whole; i < size; ++i) out[i] = rest[i - whole];
  }
  if (log) {
    float shift = peak + __builtin_logf(sum);
    for (int64_t i = 0; i < size; ++i) out[i] = in[i] - shift;
  } else {
    float factor = 1.0f / sum;
    for (int64_t i = 0; i < size; ++i) out[i] *= factor;
  }
}

constexpr int64_t kSoftmaxBlock = 64;

void softmax_columns(const float* in, float* out, int64_t size, int64_t inner, int64_t width,
                     bool log) {
  float peak[kSoftmaxBlock], sum[kSoftmaxBlock];
  for (int64_t i = 0; i < width; ++i) peak[i] = in[i], sum[i] = 0;
  for (int64_t s = 1; s < size; ++s) {
    for (int64_t i = 0; i < width; ++i)
      peak[i] = in[s * inner + i] > peak[i] ? in[s * inner + i] : peak[i];
  }
  for (int64_t s = 0; s < size; ++s) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      float e = fast_exp_or_zero(in[s * inner + i] - peak[i]);
      out[s * inner + i] = e;
      sum[i] += e;
    }
  }
  for (int64_t i = 0; i < width; ++i)
    sum[i] = log ? peak[i] + __builtin_logf(sum[i]) : 1.0f / sum[i];
  for (int64_t s = 0; s < size; ++s) {
    for (int64_t i = 0; i < width; ++i) {
      out[s * inner + i] = log ? in[s * inner + i] - sum[i] : out[s * inner + i] * sum[i];
    }
  }
}

}  // namespace

void ENGINERY_KERNEL(softmax)(const SoftmaxArguments& a) {
  bool parallel = a.outer * a.size * a.inner > kMinParallelWork;
  if (a.inner == 1 && a.size == 2 && !a.log) {
    constexpr int64_t kRows = 512;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t row = 0; row < a.outer; row += kRows) {
      softmax_pairs(a.in + 2 * row, a.out + 2 * row, least(kRows, a.outer - row));
    }
  } else if (a.inner == 1) {
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t o = 0; o < a.outer; ++o)
      softmax_row(a.in + o * a.size, a.out + o * a.size, a.size, a.log);
  } else {
    int64_t blocks = (a.inner + kSoftmaxBlock - 1) / kSoftmaxBlock;
#pragma omp parallel for schedule(static) if (parallel)
    for (int64_t task = 0; task < a.outer * blocks; ++task) {
      int64_t o = task / blocks, i = task % blocks * kSoftmaxBlock, at = o * a.size * a.inner + i;
      softmax_columns(a.in + at, a.out + at, a.size, a.inner, least(kSoftmaxBlock, a.inner - i),
                      a.log);
    }
  }
}

}  // namespace enginery
