// A matrix product with few rows, four of its columns at a time. Everything here has internal
// linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/products/gemv.h"
#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int64_t kGemvGroup = 4;  // columns, each a row of the weights

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

inline int64_t gemv_groups(const GemvArguments& a) {
  return (a.n + kGemvGroup - 1) / kGemvGroup;
}

// The columns of one group in all rows: the weights come from memory once.
inline void run_gemv_group(const GemvArguments& a, int64_t group) {
  const int64_t n = group * kGemvGroup;
  for (int64_t m = 0; m < a.m; ++m) {
    const float* x = a.x + m * a.k;
    float* y = a.y + m * a.n;
    if (n + kGemvGroup <= a.n) {
      dot_rows<kGemvGroup>(a, x, n, y);
    } else {
      for (int64_t r = n; r < a.n; ++r) dot_rows<1>(a, x, r, y);
    }
  }
}

}  // namespace
}  // namespace enginery
