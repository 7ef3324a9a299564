// The products of tile.h in vectors of AVX-512 BF16, for CPUs without AMX: VDPBF16PS adds the
// products of 16 pairs of bfloat16 values to 16 floats. Source: Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2.
#pragma once

#include <immintrin.h>

#include "engine/kernels/cpu/tiles/tile.h"

namespace enginery {
namespace {

inline void configure_tiles(int64_t) {}
inline void release_tiles() {}

// Rows whose sums stay in registers, two vectors each.
constexpr int kStripRows = 8;
// Tiles of a column that stay in the nearest cache, two columns side by side, while a block's
// strips pass.
constexpr int64_t kNearTiles = 8;

// The part of a block's depth that one pass multiplies.
struct DepthRange {
  int64_t begin, end;  // in tiles of a column
};

template <int kRows>
void multiply_strip(const TileOperands& o, const DepthRange& depth, int64_t row, bool adds,
                    float* c, int64_t pitch) {
  __m512 sums[kRows][2];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = adds ? _mm512_loadu_ps(c + r * pitch) : _mm512_setzero_ps();
    sums[r][1] = adds ? _mm512_loadu_ps(c + r * pitch + kTileRows) : _mm512_setzero_ps();
  }
  for (int64_t i = depth.begin; i < depth.end; ++i) {
    const uint16_t *first = o.first + i * o.step, *second = o.second + i * o.step;
    const uint16_t* at = o.piece(i / o.count) + row * o.pitch + i % o.count * kTileDepth;
    for (int64_t pair = 0; pair < kTileDepth; pair += 2, at += 2) {
      const auto left = (__m512bh)_mm512_loadu_si512(first + pair * kTileRows);
      const auto right = (__m512bh)_mm512_loadu_si512(second + pair * kTileRows);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        int32_t both;
        __builtin_memcpy(&both, at + r * o.pitch, sizeof both);
        const auto values = (__m512bh)_mm512_set1_epi32(both);
        sums[r][0] = _mm512_dpbf16_ps(sums[r][0], values, left);
        sums[r][1] = _mm512_dpbf16_ps(sums[r][1], values, right);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(c + r * pitch, sums[r][0]);
    _mm512_storeu_ps(c + r * pitch + kTileRows, sums[r][1]);
  }
}

// The rows of a block from `row` on, in strips of kRows and what is left in narrower ones.
template <int kRows>
void multiply_strips(const TileOperands& o, const DepthRange& depth, int64_t row, int64_t rows,
                     bool adds, float* c, int64_t pitch) {
  for (; row + kRows <= rows; row += kRows)
    multiply_strip<kRows>(o, depth, row, adds, c + row * pitch, pitch);
  if constexpr (kRows > 1) multiply_strips<kRows / 2>(o, depth, row, rows, adds, c, pitch);
}

template <bool kBoth>
void multiply_tiles(const TileOperands& o, bool adds, float* c, int64_t pitch, Ahead ahead = {}) {
  const int64_t rows = least(o.block, kBoth ? 2 * kTileRows : kTileRows);
  const int64_t tiles = o.pieces * o.count;
  const int64_t lines_a_tile = (ahead.lines + tiles - 1) / tiles;
  int64_t fetched = 0;
  for (int64_t i = 0; i < tiles; i += kNearTiles) {
    const DepthRange depth{i, least(i + kNearTiles, tiles)};
    const int64_t lines = least(ahead.lines, depth.end * lines_a_tile);
    for (; fetched < lines; ++fetched) __builtin_prefetch(ahead.at + fetched * 64, 0, 2);
    multiply_strips<kStripRows>(o, depth, 0, rows, adds || i > 0, c, pitch);
  }
}

}  // namespace
}  // namespace enginery
