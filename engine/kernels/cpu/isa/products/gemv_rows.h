// A matrix product with few rows, four of its columns at a time. Everything here has internal
// linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/bfloat16.h"
#include "engine/kernels/cpu/isa/products/gemv.h"

namespace enginery {
namespace {

constexpr int kLine = 64;          // bytes of a cache line
constexpr int64_t kGemvGroup = 4;  // columns, each a row of the weights

inline float sum_of(Vector v) {
  float total = 0;
  for (int i = 0; i < kWidth; ++i) total += v[i];
  return total;
}

template <int kRows, typename W>
inline void dot_rows(const GemvArguments& a, const float* x, int64_t n, float* y) {
  const W* w = static_cast<const W*>(a.w) + n * a.k;
  Vector acc[kRows][2];
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = broadcast(0);
  int64_t k = 0;
  for (; k + 2 * kWidth <= a.k; k += 2 * kWidth) {
    Vector x0 = load(x + k), x1 = load(x + k + kWidth);
    for (int r = 0; r < kRows; ++r) {
      const W* const at = w + r * a.k + k;
      acc[r][0] += load(at) * x0;
      acc[r][1] += load(at + kWidth) * x1;
      // The next rows: what fetches ahead by itself stops at every row's end.
      __builtin_prefetch(at + kRows * a.k);
      if (static_cast<int>(sizeof(W)) * kWidth >= kLine)
        __builtin_prefetch(at + kRows * a.k + kWidth);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    float total = sum_of(acc[r][0] + acc[r][1]);
    for (int64_t i = k; i < a.k; ++i) total += value_of(w[r * a.k + i]) * x[i];
    if (a.bias) total += a.bias[n + r];
    y[n + r] = clip(total, a.low, a.high);
  }
}

inline int64_t gemv_groups(const GemvArguments& a) {
  return (a.n + kGemvGroup - 1) / kGemvGroup;
}

template <typename W>
inline void run_gemv_group_of(const GemvArguments& a, int64_t group) {
  const int64_t n = group * kGemvGroup;
  for (int64_t m = 0; m < a.m; ++m) {
    const float* x = a.x + m * a.k;
    float* y = a.y + m * a.n;
    if (n + kGemvGroup <= a.n) {
      dot_rows<kGemvGroup, W>(a, x, n, y);
    } else {
      for (int64_t r = n; r < a.n; ++r) dot_rows<1, W>(a, x, r, y);
    }
  }
}

// The columns of one group in all rows: the weights come from memory once.
inline void run_gemv_group(const GemvArguments& a, int64_t group) {
  if (a.narrow)
    run_gemv_group_of<uint16_t>(a, group);
  else
    run_gemv_group_of<float>(a, group);
}

}  // namespace
}  // namespace enginery
