// The inner loop of matrix products: a tile of up to kRows rows by up to two vectors of columns
// stays in registers while the depth runs. Everything here has internal linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int kRows = kWidth == 16 ? 14 : 6;  // 28 of 32 registers, 12 of 16
constexpr int kPanel = 2 * kWidth;            // columns of a panel of weights
constexpr int64_t kLine = 16;                 // floats in a cache line

// What a tile multiplies. The rows of a tile lie a vector of the depth side by side, [chunk][row]
// [lane]: addresses are constants, and rows whose distance is a power of two do not fight for one
// cache set.
struct ProductOperands {
  const float* in;       // the tile's first row
  int64_t chunk_stride;  // floats from one vector of the depth to the next
  const float* weights;  // a panel, [depth][kPanel]
  const float* next;     // part of a panel to fetch meanwhile, or null
  int64_t next_floats;   // of each vector of its depth
  int64_t depth;
};

// Over how many of a panel's tiles the next panel is fetched: the more, the less the one waits for
// the other's memory.
inline int64_t fetching_tiles(int64_t tiles) {
  int64_t parts = kWidth * kPanel / kLine;
  while (parts > most(2, tiles)) parts /= 2;
  return parts;
}

// A checked access to each operand of each product would make a sanitized build a hundred times as
// slow: there the loop is a function of its own without checks, and what it reads is touched first.
// (It calls no other inline function: GCC 12 ends with an internal error where a checked one is
// inlined into an unchecked one.)
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ENGINERY_INNER_STEP \
  [[gnu::always_inline, gnu::no_sanitize("address", "undefined", "thread")]]
#define ENGINERY_INNER_LOOP [[gnu::noinline, gnu::no_sanitize("address", "undefined", "thread")]]
inline void touch(const float* p) {
  [[maybe_unused]] const volatile float value = *p;
}
inline void touch_operands(const ProductOperands& t, int rows) {
  for (int64_t k = 0; k < t.depth; k += kWidth) {
    const float* in = t.in + k / kWidth * t.chunk_stride;
    touch(in);
    touch(in + (rows - 1) * kWidth + least(kWidth, t.depth - k) - 1);
  }
  touch(t.weights);
  touch(t.weights + t.depth * kPanel - 1);
}
#else
#define ENGINERY_INNER_STEP [[gnu::always_inline]]
#define ENGINERY_INNER_LOOP [[gnu::always_inline]]
inline void touch_operands(const ProductOperands&, int) {}
#endif

template <int kR, int kV>
ENGINERY_INNER_STEP inline void multiply_step(const float* in, const float* weights,
                                              Vector (&acc)[kR][kV]) {
  Vector w[kV];
  for (int v = 0; v < kV; ++v)
    w[v] = *reinterpret_cast<const UnalignedVector*>(weights + v * kWidth);
  for (int r = 0; r < kR; ++r) {
    const Vector x = in[r * kWidth] - Vector{};
    for (int v = 0; v < kV; ++v) acc[r][v] += x * w[v];
  }
}

template <int kR, int kV>
ENGINERY_INNER_LOOP inline void multiply_unchecked(const ProductOperands& t,
                                                   Vector (&acc)[kR][kV]) {
  const float *in = t.in, *weights = t.weights, *next = t.next;
  int64_t whole = t.depth / kWidth;
  for (int64_t c = 0; c < whole; ++c) {
    // The next vector of the depth lies a plane further: no hardware prefetcher sees that coming.
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) __builtin_prefetch(in + t.chunk_stride + r * kWidth, 0, 3);
#pragma GCC unroll 4
    for (int i = 0; i < kWidth; ++i) multiply_step<kR, kV>(in + i, weights + i * kPanel, acc);
    if (next) {  // a part of what the other panel has here; the tiles after this fetch the others
      for (int64_t i = 0; i < t.next_floats; i += kLine) __builtin_prefetch(next + i, 0, 2);
      next += kWidth * kPanel;
    }
    in += t.chunk_stride;
    weights += kWidth * kPanel;
  }
  for (int i = 0; i < t.depth % kWidth; ++i)
    multiply_step<kR, kV>(in + i, weights + i * kPanel, acc);
}

// acc[r][v] += sum over the depth of in[r] * weights[v].
template <int kR, int kV>
[[gnu::always_inline]] inline void multiply(const ProductOperands& t, Vector (&acc)[kR][kV]) {
  touch_operands(t, kR);
  multiply_unchecked(t, acc);
}

struct Share {
  int64_t begin, end;
};

inline Share share_of(int64_t n, int64_t parts, int64_t part) {
  return {n * part / parts, n * (part + 1) / parts};
}

// How a team cuts a product: `by_row` times `by_panel` parts.
struct ProductCut {
  int64_t by_row, by_panel;
};

// The cut whose largest part is smallest; on a tie the one that reads the larger operand once.
inline ProductCut choose_cut(int64_t tiles, int64_t panels, int64_t threads, bool many_columns) {
  ProductCut best{1, 1};
  double best_work = 1e300;
  for (int64_t by_panel = 1; by_panel <= threads; ++by_panel) {
    if (threads % by_panel != 0) continue;
    int64_t by_row = threads / by_panel;
    double work = static_cast<double>((tiles + by_row - 1) / by_row) *
                  static_cast<double>((panels + by_panel - 1) / by_panel);
    bool better = work < best_work * 0.99 || (work < best_work * 1.01 && many_columns);
    if (!better) continue;
    best = {by_row, by_panel};
    best_work = work;
  }
  return best;
}

}  // namespace
}  // namespace enginery
