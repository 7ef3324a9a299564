// Intel AMX's tiles as the kernels here use them: TILE_* on eight registers of up to 16 rows of 64
// bytes, by their numbers, which are literals. Source: Intel 64 and IA-32 Architectures Software
// Developer's Manual, chapter "Programming with Intel AMX".
//
// With ENGINERY_EMULATED_TILES the same in plain code: tests run the kernels' texts on any CPU.
#pragma once

#include "engine/kernels/cpu/tiles/tile.h"

#ifndef ENGINERY_EMULATED_TILES
#include <immintrin.h>
#endif

namespace enginery {
namespace {

// How large each tile is, as LDTILECFG reads it.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

#ifdef ENGINERY_EMULATED_TILES

struct EmulatedTile {
  int rows, row_bytes;
  alignas(64) uint8_t bytes[kTileRows][64];
};
thread_local EmulatedTile emulated_tiles[8];

inline void emulate_configuration(const TileConfiguration& c) {
  for (int t = 0; t < 8; ++t) emulated_tiles[t] = {c.rows[t], c.row_bytes[t], {}};
}
inline void emulate_zero(int t) {
  __builtin_memset(emulated_tiles[t].bytes, 0, sizeof emulated_tiles[t].bytes);
}
inline void emulate_load(int t, const void* from, int64_t pitch) {
  EmulatedTile& tile = emulated_tiles[t];
  emulate_zero(t);
  for (int r = 0; r < tile.rows; ++r)
    __builtin_memcpy(tile.bytes[r], static_cast<const char*>(from) + r * pitch,
                     static_cast<size_t>(tile.row_bytes));
}
inline void emulate_store(int t, void* to, int64_t pitch) {
  const EmulatedTile& tile = emulated_tiles[t];
  for (int r = 0; r < tile.rows; ++r)
    __builtin_memcpy(static_cast<char*>(to) + r * pitch, tile.bytes[r],
                     static_cast<size_t>(tile.row_bytes));
}
inline float emulated_value(const EmulatedTile& tile, int row, int column) {
  uint16_t bits;
  __builtin_memcpy(&bits, tile.bytes[row] + 2 * column, 2);
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}
// Products of pairs: a's values 2p and 2p + 1 of a row meet b's row p.
inline void emulate_products(int c, int a, int b) {
  const EmulatedTile &left = emulated_tiles[a], &right = emulated_tiles[b];
  EmulatedTile& sums = emulated_tiles[c];
  for (int r = 0; r < sums.rows; ++r) {
    for (int n = 0; n < sums.row_bytes / 4; ++n) {
      float sum;
      __builtin_memcpy(&sum, sums.bytes[r] + 4 * n, 4);
      for (int p = 0; p < left.row_bytes / 4; ++p) {
        sum += emulated_value(left, r, 2 * p) * emulated_value(right, p, 2 * n);
        sum += emulated_value(left, r, 2 * p + 1) * emulated_value(right, p, 2 * n + 1);
      }
      __builtin_memcpy(sums.bytes[r] + 4 * n, &sum, 4);
    }
  }
}

#define TILE_CONFIGURE(configuration) emulate_configuration(configuration)
#define TILE_RELEASE()
#define TILE_ZERO(tile) emulate_zero(tile)
#define TILE_LOAD(tile, from, pitch) emulate_load(tile, from, pitch)
#define TILE_STORE(tile, to, pitch) emulate_store(tile, to, pitch)
#define TILE_MULTIPLY(sums, left, right) emulate_products(sums, left, right)

#else

#define TILE_CONFIGURE(configuration) _tile_loadconfig(&(configuration))
#define TILE_RELEASE() _tile_release()
#define TILE_ZERO(tile) _tile_zero(tile)
#define TILE_LOAD(tile, from, pitch) _tile_loadd(tile, from, pitch)
#define TILE_STORE(tile, to, pitch) _tile_stored(tile, to, pitch)
#define TILE_MULTIPLY(sums, left, right) _tile_dpbf16ps(sums, left, right)

#endif

// GCC's loads of tiles do not say that they read memory: what was stored before shall be there.
#define TILE_MEMORY_BARRIER() __asm__ volatile("" ::: "memory")

// Tiles 0 to 3 hold a block's results, two above two; 4 and 5 the rows above each other, 6 and 7
// the columns side by side.
inline void configure_tiles(int64_t rows) {
  TileConfiguration c;
  for (int t = 0; t < 8; ++t) {
    c.row_bytes[t] = 64;
    c.rows[t] = static_cast<uint8_t>(kTileRows);
  }
  c.rows[0] = c.rows[1] = c.rows[4] = static_cast<uint8_t>(least(rows, kTileRows));
  c.rows[2] = c.rows[3] = c.rows[5] = static_cast<uint8_t>(most(1, rows - kTileRows));
  TILE_CONFIGURE(c);
}

inline void release_tiles() {
  TILE_RELEASE();
}

template <bool kBoth>
void multiply_tiles(const TileOperands& o, bool adds, float* c, int64_t pitch, Ahead ahead = {}) {
  float* const below = c + kTileRows * pitch;
  TILE_MEMORY_BARRIER();
  if (adds) {
    TILE_LOAD(0, c, pitch * 4);
    TILE_LOAD(1, c + kTileRows, pitch * 4);
    if constexpr (kBoth) {
      TILE_LOAD(2, below, pitch * 4);
      TILE_LOAD(3, below + kTileRows, pitch * 4);
    }
  } else {
    TILE_ZERO(0);
    TILE_ZERO(1);
    if constexpr (kBoth) {
      TILE_ZERO(2);
      TILE_ZERO(3);
    }
  }
  const int64_t steps = o.pieces * o.count, lines_a_step = (ahead.lines + steps - 1) / steps;
  int64_t fetched = 0, at = 0;
  for (int64_t p = 0; p < o.pieces; ++p) {
    const uint16_t* rows = o.piece(p);
    for (int64_t i = 0; i < o.count; ++i, rows += kTileDepth, at += o.step) {
      TILE_LOAD(4, rows, o.pitch * 2);
      TILE_LOAD(6, o.first + at, 64);
      TILE_LOAD(7, o.second + at, 64);
      TILE_MULTIPLY(0, 4, 6);
      TILE_MULTIPLY(1, 4, 7);
      if constexpr (kBoth) {
        TILE_LOAD(5, rows + kTileRows * o.pitch, o.pitch * 2);
        TILE_MULTIPLY(2, 5, 6);
        TILE_MULTIPLY(3, 5, 7);
      }
      for (int64_t l = 0; l < lines_a_step && fetched < ahead.lines; ++l, ++fetched)
        __builtin_prefetch(ahead.at + fetched * 64, 0, 2);
    }
  }
  TILE_STORE(0, c, pitch * 4);
  TILE_STORE(1, c + kTileRows, pitch * 4);
  if constexpr (kBoth) {
    TILE_STORE(2, below, pitch * 4);
    TILE_STORE(3, below + kTileRows, pitch * 4);
  }
  TILE_MEMORY_BARRIER();
}

}  // namespace
}  // namespace enginery
