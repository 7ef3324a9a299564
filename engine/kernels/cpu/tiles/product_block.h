// One block of a matrix product in tiles, from its operands to what the epilogue makes of the sums.
// Everything here has internal linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/bfloat16.h"
#include "engine/kernels/cpu/isa/pointwise_steps.h"
#include "engine/kernels/cpu/tiles/product.h"
#include "engine/kernels/cpu/tiles/tile.h"

namespace enginery {
namespace {

constexpr int64_t kBlockRows = 32;

// One block: its first row, its panel of `panels`, and its place among as many blocks of rows, all
// of which meet the same panel about the same time.
struct Block {
  int64_t row, panel, panels, place, blocks;
};

// The part of a block that is written: rows [begin, end) of the sums, each the result `row[r]`, or
// none where that is negative, and the columns from `column` on.
struct Part {
  int64_t begin, end, column, columns;
  int64_t row[kBlockRows];
};

inline Part part_of(const TileProductArguments& a, int64_t first, int64_t begin, int64_t end,
                    int64_t column) {
  Part part{begin, end, column, least(kPanelColumns, a.n - column), {}};
  for (int64_t r = begin; r < end; ++r) {
    const int64_t row = first + r;
    part.row[r] = row;
    if (a.row_width == 0) continue;
    const int64_t group = row / a.row_width, place = row % a.row_width;
    part.row[r] = place < a.row_kept ? group * a.row_kept + place : -1;
  }
  return part;
}

// An operand's values in one row of a part.
inline const float* operand_row(const MatrixOperand& o, const Part& part, int64_t r, float* wide) {
  const int64_t at = part.row[r] * o.row + part.column * o.column;
  if (!o.narrow) return static_cast<const float*>(o.at) + at;
  widen_bfloat16(static_cast<const uint16_t*>(o.at) + at, o.column == 0 ? 1 : part.columns, wide);
  return wide;
}

// A step with an operand, add or mul, on whole rows of a panel, as loops of known length.
template <bool kAdds>
inline void combine_panel(float* __restrict sums, const Part& part, const MatrixOperand& o) {
  float wide[kPanelColumns];
  for (int64_t r = part.begin; r < part.end; ++r) {
    if (part.row[r] < 0) continue;
    float* __restrict s = sums + r * kPanelColumns;
    const float* __restrict x = operand_row(o, part, r, wide);
    if (o.column == 0) {
      for (int64_t c = 0; c < kPanelColumns; ++c) s[c] = kAdds ? s[c] + *x : s[c] * *x;
    } else {
      for (int64_t c = 0; c < kPanelColumns; ++c) s[c] = kAdds ? s[c] + x[c] : s[c] * x[c];
    }
  }
}

inline void apply_step(const PointwiseStep& step, const TileProductArguments& a, const Part& part,
                       float* sums) {
  if (step.operand < 0) {
    float* values = sums + part.begin * kPanelColumns;
    apply(step, values, values, (part.end - part.begin) * kPanelColumns);
    return;
  }
  const MatrixOperand& o = a.operand[step.operand];
  const bool whole = part.columns == kPanelColumns;
  if (whole && step.function == PointwiseFunction::add) return combine_panel<true>(sums, part, o);
  if (whole && step.function == PointwiseFunction::mul) return combine_panel<false>(sums, part, o);
  float wide[kPanelColumns];
  for (int64_t r = part.begin; r < part.end; ++r) {
    if (part.row[r] < 0) continue;
    float* values = sums + r * kPanelColumns;
    combine(step.function, values, values, operand_row(o, part, r, wide), o.column, part.columns);
  }
}

inline void store_row(const float* from, int64_t n, uint16_t* to) {
  round_to_bfloat16(from, n, to);
}
inline void store_row(const float* from, int64_t n, float* to) {
  for (int64_t c = 0; c < n; ++c) to[c] = from[c];
}

template <typename T>
inline void store(const TileProductArguments& a, const Part& part, const float* sums) {
  for (int64_t r = part.begin; r < part.end; ++r) {
    if (part.row[r] < 0) continue;
    T* const to = static_cast<T*>(a.y) + part.row[r] * a.y_pitch + part.column;
    if (part.columns == kPanelColumns)
      store_row(sums + r * kPanelColumns, kPanelColumns, to);
    else
      store_row(sums + r * kPanelColumns, part.columns, to);
  }
}

// An epilogue in one pass: [+ bias by column] [+ values by row and column] [clip].
struct PlainEpilogue {
  const float* bias = nullptr;
  const MatrixOperand* addend = nullptr;
  float low = -__builtin_inff(), high = __builtin_inff();
};

// What step `s` adds by column; null where it is another step.
inline const MatrixOperand* added_by_column(const TileProductArguments& a, int s) {
  if (s >= a.steps || a.step[s].function != PointwiseFunction::add) return nullptr;
  const MatrixOperand& o = a.operand[a.step[s].operand];
  return o.column == 1 ? &o : nullptr;
}

// Whether the steps are one.
inline bool is_plain(const TileProductArguments& a, PlainEpilogue& out) {
  int s = 0;
  const MatrixOperand* added = added_by_column(a, s);
  if (added && added->row == 0 && !added->narrow) {
    out.bias = static_cast<const float*>(added->at);
    added = added_by_column(a, ++s);
  }
  if (added && added->row != 0) {
    out.addend = added;
    ++s;
  }
  if (s < a.steps && a.step[s].function == PointwiseFunction::relu) {
    out.low = 0;
    ++s;
  } else if (s < a.steps && a.step[s].function == PointwiseFunction::clip) {
    out.low = a.step[s].alpha;
    out.high = a.step[s++].beta;
  }
  return s == a.steps;
}

inline void store_pair(float* to, Vector first, Vector second) {
  store(to, first);
  store(to + kWidth, second);
}
inline void store_pair(uint16_t* to, Vector first, Vector second) {
#ifdef __AVX512BF16__
  const __m512bh values = _mm512_cvtne2ps_pbh((__m512)second, (__m512)first);
  __builtin_memcpy(to, &values, sizeof values);
#else
  store(to, first);
  store(to + kWidth, second);
#endif
}

// The rows of a whole panel.
template <typename T, typename Addend>
inline void store_plain(const TileProductArguments& a, const PlainEpilogue& e, const Part& part,
                        const float* sums) {
  for (int64_t c = 0; c < kPanelColumns; c += 2 * kWidth) {
    const int64_t column = part.column + c;
    const Vector first = e.bias ? load(e.bias + column) : Vector{},
                 second = e.bias ? load(e.bias + column + kWidth) : Vector{};
    for (int64_t r = part.begin; r < part.end; ++r) {
      if (part.row[r] < 0) continue;
      const float* const s = sums + r * kPanelColumns + c;
      Vector left = load(s) + first, right = load(s + kWidth) + second;
      if (e.addend) {
        const Addend* const x =
            static_cast<const Addend*>(e.addend->at) + part.row[r] * e.addend->row + column;
        left += load(x);
        right += load(x + kWidth);
      }
      store_pair(static_cast<T*>(a.y) + part.row[r] * a.y_pitch + column, clip(left, e.low, e.high),
                 clip(right, e.low, e.high));
    }
  }
}

template <typename T>
inline void finish(const TileProductArguments& a, const Part& part, float* sums) {
  PlainEpilogue plain;
  if (part.columns == kPanelColumns && is_plain(a, plain)) {
    if (plain.addend && plain.addend->narrow)
      store_plain<T, uint16_t>(a, plain, part, sums);
    else
      store_plain<T, float>(a, plain, part, sums);
    return;
  }
  for (int s = 0; s < a.steps; ++s) apply_step(a.step[s], a, part, sums);
  store<T>(a, part, sums);
}

// A last block of fewer rows begins earlier, with rows of the block before it, which are left
// alone.
inline void multiply_block(const TileProductArguments& a, const Block& block) {
  const int64_t row = least(block.row, most(0, a.m - kBlockRows));
  const int64_t rows = least(kBlockRows, a.m), panel_size = a.k * kPanelColumns;
  const uint16_t* panel = a.w + block.panel * panel_size;
  const TileOperands operands{.rows = a.x + row * a.x_pitch,
                              .pitch = a.x_pitch,
                              .first = panel,
                              .second = panel + kTileSize,
                              .step = 2 * kTileSize,
                              .count = a.k / a.pieces / kTileDepth,
                              .block = rows,
                              .pieces = a.pieces,
                              .piece_at = a.piece_at};
  Ahead ahead;
  if (block.panel + 1 < block.panels) {
    const int64_t share = panel_size * 2 / 64 / block.blocks;
    ahead = {reinterpret_cast<const char*>(panel + panel_size) + block.place * share * 64, share};
  }
  alignas(64) float sums[kBlockRows * kPanelColumns];
  if (rows > kTileRows)
    multiply_tiles<true>(operands, false, sums, kPanelColumns, ahead);
  else
    multiply_tiles<false>(operands, false, sums, kPanelColumns, ahead);
  const Part part = part_of(a, row, block.row - row, rows, block.panel * kPanelColumns);
  if (a.narrow)
    finish<uint16_t>(a, part, sums);
  else
    finish<float>(a, part, sums);
}

}  // namespace
}  // namespace enginery
