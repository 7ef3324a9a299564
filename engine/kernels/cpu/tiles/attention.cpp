// Attention in blocks that stay in the nearest caches, as isa/attention.cpp has it, its products in
// tiles: queries and the weights of keys are rows, keys and values are packed into tiles once a
// block. Scores, masks and softmax are float32.
#include "engine/kernels/cpu/tiles/attention.h"

#include "engine/kernels/cpu/isa/attention_rows.h"
#include "engine/kernels/cpu/isa/bfloat16.h"
#include "engine/kernels/cpu/tiles/tile.h"

namespace enginery {
namespace {

constexpr int64_t kBlockQueries = 128, kBlockKeys = 256, kMostColumns = 256;
constexpr int64_t kPair = 2 * kTileRows;  // rows or columns of two tiles
typedef uint32_t Sixteen __attribute__((vector_size(64)));

// The matrices of one index.
struct AttentionTask {
  const uint16_t *q, *k, *v;
  int64_t y;  // the first element
  AttentionMasks masks;
};

// What a task keeps. Rows are padded to pairs of tiles, with zeros.
struct Working {
  alignas(64) uint16_t q[kBlockQueries * kMostColumns];  // [query][depth]
  alignas(64) uint16_t k[kBlockKeys * kMostColumns];     // tiles [key / 16][depth / 32]
  alignas(64) uint16_t v[kBlockKeys * kMostColumns];     // tiles [column / 16][key / 32]
  alignas(64) float scores[kBlockQueries * kBlockKeys];
  alignas(64) uint16_t weights[kBlockQueries * kBlockKeys];
  alignas(64) float y[kBlockQueries * kMostColumns];
  float largest[kBlockQueries], sum[kBlockQueries];
};

AttentionTask task_of(const TileAttentionArguments& a, int64_t matrix) {
  const MatrixIndex index = matrix_index(a, matrix);
  return {a.q + place_of(a.q_place, index), a.k + place_of(a.k_place, index),
          a.v + place_of(a.v_place, index), place_of(a.y_place, index), masks_of(a, index)};
}

int64_t steps_of(int64_t size) {
  return (size + kTileDepth - 1) / kTileDepth;
}
int64_t padded(int64_t size) {
  return (size + kPair - 1) / kPair * kPair;
}

void take_queries(const TileAttentionArguments& a, const uint16_t* q, int64_t first, int64_t rows,
                  Working& w) {
  const int64_t depth = steps_of(a.depth) * kTileDepth;
  for (int64_t r = 0; r < padded(rows); ++r) {
    uint16_t* to = w.q + r * depth;
    const uint16_t* from = q + (first + r) * a.q_place.row;
    const int64_t taken = r < rows ? a.depth : 0;
    for (int64_t d = 0; d < taken; ++d) to[d] = from[d];
    for (int64_t d = taken; d < depth; ++d) to[d] = 0;
  }
  for (int64_t r = 0; r < rows; ++r) {
    w.largest[r] = -__builtin_inff();
    w.sum[r] = 0;
  }
  for (int64_t i = 0; i < padded(rows) * padded(a.width); ++i) w.y[i] = 0;
}

// Where column c of the lower or the higher of two rows comes from that exchange spans of columns:
// the lower one's, or 16 on, the higher one's.
template <int kSpan, bool kLower>
constexpr int origin(int c) {
  const bool stays = ((c & kSpan) == 0) == kLower;
  return (stays ? c : c ^ kSpan) + ((c & kSpan) == 0 ? 0 : 16);
}

template <int kSpan, bool kLower>
inline void exchange(const Sixteen& a, const Sixteen& b, Sixteen& to) {
  constexpr auto at = origin<kSpan, kLower>;
  to = __builtin_shufflevector(a, b, at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7), at(8),
                               at(9), at(10), at(11), at(12), at(13), at(14), at(15));
}

// A stage of rows[i][j] becoming rows[j][i].
template <int kSpan>
inline void exchange(Sixteen (&rows)[16]) {
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if (i & kSpan) continue;
    const Sixteen a = rows[i], b = rows[i | kSpan];
    exchange<kSpan, true>(a, b, rows[i]);
    exchange<kSpan, false>(a, b, rows[i | kSpan]);
  }
}

// Up to 16 keys' values of one step of the depth, as a tile: pairs of values become rows.
void pack_keys(const uint16_t* k, int64_t row, int64_t keys, int64_t depth, uint16_t* to) {
  Sixteen rows[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    rows[i] = Sixteen{};
    if (i >= keys) continue;
    if (depth >= kTileDepth)
      __builtin_memcpy(&rows[i], k + i * row, sizeof rows[i]);
    else
      __builtin_memcpy(&rows[i], k + i * row, static_cast<size_t>(depth) * 2);
  }
  exchange<1>(rows);
  exchange<2>(rows);
  exchange<4>(rows);
  exchange<8>(rows);
  __builtin_memcpy(to, rows, sizeof rows);
}

void take_keys(const TileAttentionArguments& a, const AttentionTask& t, int64_t first, int64_t keys,
               Working& w) {
  const int64_t steps = steps_of(a.depth);
  for (int64_t j = 0; j < padded(keys); j += kTileRows) {
    const uint16_t* k = t.k + (first + j) * a.k_place.row;
    uint16_t* to = w.k + j / kTileRows * steps * kTileSize;
    for (int64_t s = 0; s < steps; ++s)
      pack_keys(k + s * kTileDepth, a.k_place.row, keys - j, a.depth - s * kTileDepth,
                to + s * kTileSize);
  }
}

// Two keys' values of 16 columns, value by value, as a tile's row.
void pack_values(const uint16_t* even, const uint16_t* odd, uint16_t* to) {
  uint32_t pairs[kTileRows];
  for (int64_t c = 0; c < kTileRows; ++c)
    pairs[c] = static_cast<uint32_t>(even[c]) | static_cast<uint32_t>(odd[c]) << 16;
  __builtin_memcpy(to, pairs, sizeof pairs);
}

// What is beyond the last key and the last column is zeros.
void take_values(const TileAttentionArguments& a, const AttentionTask& t, int64_t first,
                 int64_t keys, Working& w) {
  const int64_t steps = steps_of(keys);
  for (int64_t j = 0; j < steps * kTileDepth; j += 2) {
    const uint16_t* v = t.v + (first + j) * a.v_place.row;
    uint16_t* to = w.v + j / kTileDepth * kTileSize + j % kTileDepth / 2 * kTileDepth;
    for (int64_t c = 0; c < padded(a.width); c += kTileRows, to += steps * kTileSize) {
      if (j + 1 < keys && c + kTileRows <= a.width) {
        pack_values(v + c, v + a.v_place.row + c, to);
        continue;
      }
      uint16_t rows[2][kTileRows] = {};
      for (int64_t r = 0; r < 2 && j + r < keys; ++r) {
        for (int64_t i = 0; i < kTileRows && c + i < a.width; ++i)
          rows[r][i] = v[r * a.v_place.row + c + i];
      }
      pack_values(rows[0], rows[1], to);
    }
  }
}

// c [rows][columns] (+)= rows times columns of tiles, `pitch` floats from row to row.
void multiply(const uint16_t* rows_at, int64_t row_pitch, const uint16_t* columns_at, int64_t steps,
              int64_t rows, int64_t columns, bool adds, float* c, int64_t pitch) {
  for (int64_t j = 0; j < padded(columns); j += kPair) {
    const uint16_t* first = columns_at + j / kTileRows * steps * kTileSize;
    for (int64_t r = 0; r < rows; r += kPair) {
      const TileOperands operands{.rows = rows_at + r * row_pitch,
                                  .pitch = row_pitch,
                                  .first = first,
                                  .second = first + steps * kTileSize,
                                  .step = kTileSize,
                                  .count = steps,
                                  .block = kPair};
      if (rows - r > kTileRows)
        multiply_tiles<true>(operands, adds, c + r * pitch + j, pitch);
      else
        multiply_tiles<false>(operands, adds, c + r * pitch + j, pitch);
    }
  }
}

// Keys beyond the last weigh nothing: rows are as long as pairs of tiles are wide.
void weigh_rows(const TileAttentionArguments& a, const AttentionTask& t, int64_t first,
                int64_t rows, int64_t key, int64_t keys, Working& w) {
  const int64_t width = padded(a.width), length = padded(keys);
  for (int64_t r = 0; r < rows; ++r) {
    float* s = w.scores + r * kBlockKeys;
    for (int64_t j = 0; j < length; ++j) s[j] *= a.scale;
    mask_row(a, t.masks, first + r, key, keys, s);
    for (int64_t j = keys; j < length; ++j) s[j] = -__builtin_inff();
    weigh_row(s, length, w.y + r * width, width, w.largest[r], w.sum[r]);
    round_to_bfloat16(s, length, w.weights + r * kBlockKeys);
  }
  for (int64_t i = rows * kBlockKeys; i < padded(rows) * kBlockKeys; ++i) w.weights[i] = 0;
}

void store_row(const TileAttentionArguments& a, const float* from, float factor, int64_t at) {
  const int64_t column = a.y_place.column;
  if (a.narrow) {
    uint16_t* to = static_cast<uint16_t*>(a.y) + at;
    for (int64_t c = 0; c < a.width; ++c) to[c * column] = float_to_bfloat16(from[c] * factor);
  } else {
    float* to = static_cast<float*>(a.y) + at;
    for (int64_t c = 0; c < a.width; ++c) to[c * column] = from[c] * factor;
  }
}

void attend(const TileAttentionArguments& a, const AttentionTask& t, int64_t first, int64_t rows,
            Working& w) {
  const int64_t width = padded(a.width), depth_steps = steps_of(a.depth);
  take_queries(a, t.q, first, rows, w);
  for (int64_t key = 0; key < a.keys; key += kBlockKeys) {
    const int64_t keys = least(kBlockKeys, a.keys - key);
    take_keys(a, t, key, keys, w);
    take_values(a, t, key, keys, w);
    multiply(w.q, depth_steps * kTileDepth, w.k, depth_steps, rows, keys, false, w.scores,
             kBlockKeys);
    weigh_rows(a, t, first, rows, key, keys, w);
    multiply(w.weights, kBlockKeys, w.v, steps_of(keys), rows, a.width, key > 0, w.y, width);
  }
  static constexpr float kZeros[kMostColumns] = {};
  for (int64_t r = 0; r < rows; ++r) {
    const bool blank = is_blank_row(a, w.sum[r]);
    // Infinite for a row without any key: NaN.
    store_row(a, blank ? kZeros : w.y + r * width, blank ? 0.0f : 1.0f / w.sum[r],
              t.y + (first + r) * a.y_place.row);
  }
}

}  // namespace

void ENGINERY_KERNEL(tile_attention)(const TileAttentionArguments& a) {
  const QueryBlocks q = query_blocks(a, kBlockQueries);
#pragma omp parallel if (attention_work(a) > 16.0 * kMinParallelWork)
  {
    Working w;
    configure_tiles(kPair);
#pragma omp for schedule(static)
    for (int64_t task = 0; task < q.tasks; ++task) {
      const int64_t first = task % q.blocks * q.each;
      attend(a, task_of(a, task / q.blocks), first, least(q.each, a.queries - first), w);
    }
    release_tiles();
  }
}

}  // namespace enginery
