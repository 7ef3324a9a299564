// Blocks of 32 rows by 32 columns of products in bfloat16, of operands that lie as Intel AMX's
// tiles want them: what the kernels of this folder are written in. Each way to multiply has
//
//   configure_tiles(rows)  for blocks of `rows` rows, 1 to 32, of a thread's products from here on
//   multiply_tiles<kBoth>(operands, adds, c, pitch, ahead)
//                          c [rows][32] (+)= the product, rows `pitch` floats apart; kBoth: more
//                          than 16 rows
//   release_tiles()        after a thread's last one
#pragma once

#include <cstddef>

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

constexpr int64_t kTileRows = 16;   // of a tile, at most
constexpr int64_t kTileDepth = 32;  // bfloat16 values of a row
constexpr int64_t kTileSize = kTileRows * kTileDepth;

// Rows of bfloat16 in memory, and two columns of tiles: tile i of a column at i * step values.
struct TileOperands {
  const uint16_t* rows;
  int64_t pitch;  // values from row to row
  const uint16_t *first, *second;
  int64_t step;
  int64_t count;  // tiles of a column, of one piece: the depth in steps of kTileDepth
  int64_t block;  // rows of a whole block, as configured
  // Where the depth is several pieces, the rows of each begin `piece_at` values behind `rows`.
  int64_t pieces = 1;
  const int64_t* piece_at = nullptr;

  const uint16_t* piece(int64_t p) const { return rows + (piece_at ? piece_at[p] : 0); }
};

// Lines that another block will need, fetched meanwhile.
struct Ahead {
  const char* at = nullptr;
  int64_t lines = 0;
};

}  // namespace
}  // namespace enginery

#ifdef ENGINERY_VECTOR_TILES
#include "engine/kernels/cpu/tiles/vector_tiles.h"
#else
#include "engine/kernels/cpu/tiles/amx_tiles.h"
#endif
