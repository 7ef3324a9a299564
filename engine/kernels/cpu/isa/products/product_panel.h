// A panel of a product (two vectors of output channels) over pixels that lie as its tiles want
// them: a vector of channels side by side, [chunk][pixel][lane]. Everything here has internal
// linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/products/product_tile.h"

namespace enginery {
namespace {

// out[p, n] = clip(bias[n] + residual[p, n] + sum over k of in[p, k] * weights[k, n])
struct PackedProduct {
  const float *weights, *bias;  // [panel][depth][kPanel], [panel][kPanel]
  int64_t depth, channels_out;
  int64_t out_pixel, out_vector;  // floats between pixels, between vectors of output channels
  float low, high;
};

// Where a tile reads and writes.
struct Tile {
  ProductOperands operands;
  const float* bias;      // of the panel
  const float* residual;  // or null; placed as out
  float* out;
  int lanes;  // output channels that exist in the panel
};

template <int kR, int kV>
inline void finish(const PackedProduct& p, const Tile& t, Vector (&acc)[kR][kV]) {
  if (t.lanes >= kV * kWidth) {
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kV; ++v) {
        int64_t at = r * p.out_pixel + v * p.out_vector;
        if (t.residual) acc[r][v] += load(t.residual + at);
        store(t.out + at, clip(acc[r][v], p.low, p.high));
      }
    }
    return;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int64_t at = r * p.out_pixel + v * p.out_vector, lanes = t.lanes - v * kWidth;
      if (t.residual) acc[r][v] += load_lanes(t.residual + at, lanes);
      store_lanes(t.out + at, clip(acc[r][v], p.low, p.high), lanes);
    }
  }
}

template <int kR, int kV>
void run_tile(const PackedProduct& p, const Tile& t) {
  Vector acc[kR][kV];
#pragma GCC unroll 2
  for (int v = 0; v < kV; ++v) {
    Vector bias = load(t.bias + v * kWidth);
#pragma GCC unroll 16
    for (int r = 0; r < kR; ++r) acc[r][v] = bias;
  }
  for (int v = 0; v < kV; ++v) {  // fetched while k runs
    for (int r = 0; r < kR; ++r) {
      int64_t at = r * p.out_pixel + v * p.out_vector;
      __builtin_prefetch(t.out + at, 1, 3);
      if (t.residual) __builtin_prefetch(t.residual + at, 0, 3);
    }
  }
  multiply(t.operands, acc);
  finish(p, t, acc);
}

template <int kR>
void run_tile_of(const PackedProduct& p, const Tile& t, int rows) {
  if constexpr (kR > 0) {
    if (rows != kR) return run_tile_of<kR - 1>(p, t, rows);
    if (t.lanes > kWidth)
      run_tile<kR, 2>(p, t);
    else
      run_tile<kR, 1>(p, t);
  }
}

// `count` pixels behind one another.
struct PixelRun {
  const float* in;       // its first pixel
  int64_t chunk_stride;  // floats from one vector of channels to the next
  int64_t count;
  const float* residual;  // or null; placed as out
  float* out;             // channel 0 of its first pixel
};

// The pixels against one panel; its first tiles fetch the panel behind it if `fetches`.
inline void run_panel(const PackedProduct& p, int64_t panel, bool fetches, const PixelRun& run) {
  const int64_t tiles = (run.count + kRows - 1) / kRows, panel_floats = p.depth * kPanel;
  const int64_t parts = fetching_tiles(tiles), share = kWidth * kPanel / parts;
  Tile t{};
  const float* weights = p.weights + panel * panel_floats;
  t.bias = p.bias + panel * kPanel;
  t.lanes = static_cast<int>(least(kPanel, p.channels_out - panel * kPanel));
  for (int64_t i = 0; i < tiles; ++i) {
    Share rows = share_of(run.count, tiles, i);
    const int64_t at = rows.begin * p.out_pixel + 2 * panel * p.out_vector;
    t.operands = {.in = run.in + rows.begin * kWidth,
                  .chunk_stride = run.chunk_stride,
                  .weights = weights,
                  .next = fetches && i < parts ? weights + panel_floats + i * share : nullptr,
                  .next_floats = share,
                  .depth = p.depth};
    t.residual = run.residual ? run.residual + at : nullptr;
    t.out = run.out + at;
    run_tile_of<kRows>(p, t, static_cast<int>(rows.end - rows.begin));
  }
}

}  // namespace
}  // namespace enginery
