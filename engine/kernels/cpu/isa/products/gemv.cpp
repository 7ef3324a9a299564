// A matrix product with few rows (batch-1 fully connected): four weight rows at a time, each read
// once from memory.
#include "engine/kernels/cpu/isa/products/gemv.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

inline float sum_of(Vector v) {
  float total = 0;
  for (int i = 0; i < kWidth; ++i) total += v[i];
  return total;
}

template <int kRows>
inline void dot_rows(const GemvArguments& a, const float* x, int64_t n, float* y) {
  const float* w = a.w + n * a.k;
  Vector acc[kRows][2];
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = broadcast(0);
  int64_t k = 0;
  for (; k + 2 * kWidth <= a.k; k += 2 * kWidth) {
    Vector x0 = load(x + k), x1 = load(x + k + kWidth);
    for (int r = 0; r < kRows; ++r) {
      acc[r][0] += load(w + r * a.k + k) * x0;
      acc[r][1] += load(w + r * a.k + k + kWidth) * x1;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float total = sum_of(acc[r][0] + acc[r][1]);
    for (int64_t i = k; i < a.k; ++i) total += w[r * a.k + i] * x[i];
    if (a.bias) total += a.bias[n + r];
    y[n + r] = clip(total, a.low, a.high);
  }
}

}  // namespace

void ENGINERY_KERNEL(gemv)(const GemvArguments& a) {
  constexpr int64_t kGroup = 4;
  int64_t groups = (a.n + kGroup - 1) / kGroup;
#pragma omp parallel for schedule(static) if (a.n * a.k > 2 * kMinParallelWork)
  for (int64_t g = 0; g < groups; ++g) {
    int64_t n = g * kGroup;
    for (int64_t m = 0; m < a.m; ++m) {
      const float* x = a.x + m * a.k;
      float* y = a.y + m * a.n;
      if (n + kGroup <= a.n) {
        dot_rows<kGroup>(a, x, n, y);
      } else {
        for (int64_t r = n; r < a.n; ++r) dot_rows<1>(a, x, r, y);
      }
    }
  }
}

}  // namespace enginery
