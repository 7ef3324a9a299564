// Attention in blocks that stay in the nearest caches: up to kBlockQueries queries against
// kBlockKeys keys at a time, softmax measured by the largest score so far, what was summed before
// rescaled when it grows. Source: Milakov, Gimelshein, "Online normalizer calculation for softmax"
// (2018).
//
// Tasks are blocks of queries of one matrix. Queries are copied a tile's rows side by side and keys
// with the keys of a block side by side, so that a tile of up to kQueryTileRows scores by two
// vectors of keys stays in registers while the depth runs, its addresses constants; then a tile of
// results by two vectors of columns while the keys run. Bytes: keys and values once a task, queries
// and results once.
#include "engine/kernels/cpu/isa/attention_rows.h"

namespace enginery {
namespace {

constexpr int64_t kBlockQueries = 96, kBlockKeys = 128, kMostColumns = 256;
constexpr int kQueryTileRows = kWidth == 16 ? 12 : 6;
constexpr int kTileColumns = 2 * kWidth;

// The matrices of one index.
struct AttentionTask {
  const float *q, *k, *v;
  float* y;
  AttentionMasks masks;
};

// What a task keeps: rows of queries one after the other.
struct Working {
  alignas(
      64) float q[(kBlockQueries + kQueryTileRows) * kMostColumns];  // [tile][depth][row], scaled
  alignas(64) float k[kMostColumns * kBlockKeys];                    // [depth][key]
  alignas(64) float v[kBlockKeys * kMostColumns];  // [key][column], padded to kTileColumns
  alignas(64) float scores[kBlockQueries * kBlockKeys];
  alignas(64) float y[kBlockQueries * kMostColumns];
  float largest[kBlockQueries], sum[kBlockQueries];
};

AttentionTask task_of(const AttentionArguments& a, int64_t matrix) {
  const MatrixIndex index = matrix_index(a, matrix);
  return {a.q + place_of(a.q_place, index), a.k + place_of(a.k_place, index),
          a.v + place_of(a.v_place, index), a.y + place_of(a.y_place, index), masks_of(a, index)};
}

// Rows [begin, end) of a tile; tiles are as even as they can be.
struct TileRows {
  int64_t begin, end;
};
inline int64_t tiles_of(int64_t rows) {
  return (rows + kQueryTileRows - 1) / kQueryTileRows;
}
inline TileRows tile_rows(int64_t rows, int64_t tile) {
  const int64_t tiles = tiles_of(rows);
  return {rows * tile / tiles, rows * (tile + 1) / tiles};
}

// out[row * out_pitch + i] (+)= sum over n of a[row * kRowStep + n * kStep] * b[n * b_pitch + i], a
// tile of kR rows by two vectors.
template <int kR, int kRowStep, int kStep>
void multiply_tile(const float* __restrict a, const float* __restrict b, int64_t b_pitch, int64_t n,
                   bool adds, float* __restrict out, int64_t out_pitch) {
  Vector sum[kR][2];
#pragma GCC unroll 12
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v)
      sum[r][v] = adds ? load(out + r * out_pitch + v * kWidth) : Vector{};
  }
  for (int64_t i = 0; i < n; ++i, a += kStep, b += b_pitch) {
    const Vector low = load(b), high = load(b + kWidth);
#pragma GCC unroll 12
    for (int r = 0; r < kR; ++r) {
      const Vector x = broadcast(a[r * kRowStep]);
      sum[r][0] += x * low;
      sum[r][1] += x * high;
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kR; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) store(out + r * out_pitch + v * kWidth, sum[r][v]);
  }
}

template <int kR, int kRowStep, int kStep>
void multiply_rows(int64_t rows, const float* a, const float* b, int64_t b_pitch, int64_t n,
                   bool adds, float* out, int64_t out_pitch) {
  if constexpr (kR > 0) {
    if (rows != kR)
      return multiply_rows<kR - 1, kRowStep, kStep>(rows, a, b, b_pitch, n, adds, out, out_pitch);
    multiply_tile<kR, kRowStep, kStep>(a, b, b_pitch, n, adds, out, out_pitch);
  }
}

int64_t padded(int64_t columns) {
  return (columns + kTileColumns - 1) / kTileColumns * kTileColumns;
}

void take_queries(const AttentionArguments& a, const float* q, int64_t first, int64_t rows,
                  Working& w) {
  for (int64_t tile = 0; tile < tiles_of(rows); ++tile) {
    const TileRows own = tile_rows(rows, tile);
    float* to = w.q + tile * a.depth * kQueryTileRows;
    for (int64_t r = own.begin; r < own.end; ++r) {
      const float* from = q + (first + r) * a.q_place.row;
      for (int64_t d = 0; d < a.depth; ++d)
        to[d * kQueryTileRows + r - own.begin] = from[d * a.q_place.column] * a.scale;
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    w.largest[r] = -__builtin_inff();
    w.sum[r] = 0;
  }
  for (int64_t i = 0; i < rows * padded(a.width); ++i) w.y[i] = 0;
}

// Four keys side by side.
void turn_keys(const float* k, int64_t row, int64_t column, int64_t depth, float* to) {
  const float *k0 = k, *k1 = k + row, *k2 = k + 2 * row, *k3 = k + 3 * row;
  for (int64_t d = 0; d < depth; ++d, to += kBlockKeys) {
    const int64_t at = d * column;
    typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
    *reinterpret_cast<Four*>(to) = Four{k0[at], k1[at], k2[at], k3[at]};
  }
}

// Keys beyond the last are zeros, up to a whole tile.
void take_keys(const AttentionArguments& a, const AttentionTask& t, int64_t first, int64_t keys,
               Working& w) {
  const AttentionPlace& p = a.k_place;
  const float* k = t.k + first * p.row;
  int64_t j = 0;
  for (; j + 4 <= keys; j += 4) turn_keys(k + j * p.row, p.row, p.column, a.depth, w.k + j);
  for (; j < keys; ++j)
    for (int64_t d = 0; d < a.depth; ++d) w.k[d * kBlockKeys + j] = k[j * p.row + d * p.column];
  for (; j < padded(keys); ++j)
    for (int64_t d = 0; d < a.depth; ++d) w.k[d * kBlockKeys + j] = 0;
}

// Columns beyond the last are zeros, up to a whole tile.
void take_values(const AttentionArguments& a, const AttentionTask& t, int64_t first, int64_t keys,
                 Working& w) {
  const int64_t width = padded(a.width);
  for (int64_t j = 0; j < keys; ++j) {
    const float* v = t.v + (first + j) * a.v_place.row;
    float* to = w.v + j * width;
    if (a.v_place.column == 1)
      for (int64_t c = 0; c < a.width; ++c) to[c] = v[c];
    else
      for (int64_t c = 0; c < a.width; ++c) to[c] = v[c * a.v_place.column];
    for (int64_t c = a.width; c < width; ++c) to[c] = 0;
  }
}

void multiply_keys(const AttentionArguments& a, int64_t rows, int64_t keys, Working& w) {
  for (int64_t c = 0; c < padded(keys); c += kTileColumns) {
    for (int64_t tile = 0; tile < tiles_of(rows); ++tile) {
      const TileRows own = tile_rows(rows, tile);
      multiply_rows<kQueryTileRows, 1, kQueryTileRows>(
          own.end - own.begin, w.q + tile * a.depth * kQueryTileRows, w.k + c, kBlockKeys, a.depth,
          false, w.scores + own.begin * kBlockKeys + c, kBlockKeys);
    }
  }
}

void add_values(const AttentionArguments& a, int64_t rows, int64_t keys, Working& w) {
  const int64_t width = padded(a.width);
  for (int64_t c = 0; c < width; c += kTileColumns) {
    for (int64_t tile = 0; tile < tiles_of(rows); ++tile) {
      const TileRows own = tile_rows(rows, tile);
      multiply_rows<kQueryTileRows, kBlockKeys, 1>(
          own.end - own.begin, w.scores + own.begin * kBlockKeys, w.v + c, width, keys, true,
          w.y + own.begin * width + c, width);
    }
  }
}

void store_results(const AttentionArguments& a, float* y, int64_t first, int64_t rows,
                   const Working& w) {
  const int64_t width = padded(a.width);
  for (int64_t r = 0; r < rows; ++r) {
    const float factor = 1.0f / w.sum[r];  // infinite for a row without any key: NaN
    const bool blank = is_blank_row(a, w.sum[r]);
    float* to = y + (first + r) * a.y_place.row;
    for (int64_t c = 0; c < a.width; ++c)
      to[c * a.y_place.column] = blank ? 0 : w.y[r * width + c] * factor;
  }
}

void attend(const AttentionArguments& a, const AttentionTask& t, int64_t first, int64_t rows,
            Working& w) {
  const int64_t width = padded(a.width);
  take_queries(a, t.q, first, rows, w);
  for (int64_t key = 0; key < a.keys; key += kBlockKeys) {
    const int64_t keys = least(kBlockKeys, a.keys - key);
    take_keys(a, t, key, keys, w);
    take_values(a, t, key, keys, w);
    multiply_keys(a, rows, keys, w);
    for (int64_t r = 0; r < rows; ++r) {
      float* s = w.scores + r * kBlockKeys;
      mask_row(a, t.masks, first + r, key, keys, s);
      weigh_row(s, keys, w.y + r * width, width, w.largest[r], w.sum[r]);
    }
    add_values(a, rows, keys, w);
  }
  store_results(a, t.y, first, rows, w);
}

}  // namespace

void ENGINERY_KERNEL(attention)(const AttentionArguments& a) {
  const QueryBlocks q = query_blocks(a, kBlockQueries);
#pragma omp parallel if (attention_work(a) > 8.0 * kMinParallelWork)
  {
    Working w;
#pragma omp for schedule(static)
    for (int64_t task = 0; task < q.tasks; ++task) {
      const int64_t first = task % q.blocks * q.each;
      attend(a, task_of(a, task / q.blocks), first, least(q.each, a.queries - first), w);
    }
  }
}

}  // namespace enginery
