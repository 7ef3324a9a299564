// Matrix products in blocks of up to 32 rows by 32 columns, which stay in four tiles while the
// depth runs. Tasks are blocks; a thread's run over the rows of a chunk, whose values stay in the
// second cache, then go to the next panel of weights, which is fetched meanwhile: weights are read
// from memory once a chunk.
#include "engine/kernels/cpu/tiles/product.h"

#include "engine/kernels/cpu/isa/bfloat16.h"
#include "engine/kernels/cpu/isa/pointwise_steps.h"
#include "engine/kernels/cpu/tiles/tile.h"

namespace enginery {
namespace {

constexpr int64_t kBlockRows = 32;
constexpr int64_t kChunkBytes = 1 << 19;  // of x

// Blocks of rows in chunks of as many, and panels.
struct Grid {
  int64_t blocks, in_chunk, panels;
};

Grid grid_of(const TileProductArguments& a) {
  const int64_t blocks = (a.m + kBlockRows - 1) / kBlockRows;
  return {blocks, least(blocks, most(1, kChunkBytes / (kBlockRows * a.k * 2))),
          (a.n + kPanelColumns - 1) / kPanelColumns};
}

struct Block {
  int64_t row, panel, blocks;  // `blocks`: of its chunk
};

Block block_of(const Grid& g, int64_t task) {
  const int64_t chunk = task / (g.panels * g.in_chunk), rest = task % (g.panels * g.in_chunk);
  const int64_t blocks = least(g.in_chunk, g.blocks - chunk * g.in_chunk);
  return {(chunk * g.in_chunk + rest % blocks) * kBlockRows, rest / blocks, blocks};
}

// The part of a block that is written: rows [begin, end) of the sums, whose first row is `row`, and
// the columns from `column` on.
struct Part {
  int64_t row, begin, end, column, columns;
};

// A step with an operand, add or mul, on whole rows of a panel, as loops of known length.
template <bool kAdds>
void combine_panel(float* __restrict sums, const Part& part, const TileProductOperand& o) {
  for (int64_t r = part.begin; r < part.end; ++r) {
    float* __restrict s = sums + r * kPanelColumns;
    const float* __restrict x = o.at + (part.row + r) * o.row + part.column * o.column;
    if (o.column == 0) {
      for (int64_t c = 0; c < kPanelColumns; ++c) s[c] = kAdds ? s[c] + *x : s[c] * *x;
    } else {
      for (int64_t c = 0; c < kPanelColumns; ++c) s[c] = kAdds ? s[c] + x[c] : s[c] * x[c];
    }
  }
}

void apply_step(const PointwiseStep& step, const TileProductArguments& a, const Part& part,
                float* sums) {
  if (step.operand < 0) {
    float* values = sums + part.begin * kPanelColumns;
    apply(step, values, values, (part.end - part.begin) * kPanelColumns);
    return;
  }
  const TileProductOperand& o = a.operand[step.operand];
  const bool whole = part.columns == kPanelColumns;
  if (whole && step.function == PointwiseFunction::add) return combine_panel<true>(sums, part, o);
  if (whole && step.function == PointwiseFunction::mul) return combine_panel<false>(sums, part, o);
  for (int64_t r = part.begin; r < part.end; ++r) {
    float* values = sums + r * kPanelColumns;
    combine(step.function, values, values, o.at + (part.row + r) * o.row + part.column * o.column,
            o.column, part.columns);
  }
}

void store_row(const float* from, int64_t n, uint16_t* to) {
  round_to_bfloat16(from, n, to);
}
void store_row(const float* from, int64_t n, float* to) {
  for (int64_t c = 0; c < n; ++c) to[c] = from[c];
}

template <typename T>
void store(const TileProductArguments& a, const Part& part, const float* sums) {
  T* const to = static_cast<T*>(a.y) + part.row * a.n + part.column;
  for (int64_t r = part.begin; r < part.end; ++r) {
    if (part.columns == kPanelColumns)
      store_row(sums + r * kPanelColumns, kPanelColumns, to + r * a.n);
    else
      store_row(sums + r * kPanelColumns, part.columns, to + r * a.n);
  }
}

// A last block of fewer rows begins earlier, with rows of the block before it, which are left
// alone.
void multiply_block(const TileProductArguments& a, const Grid& g, const Block& block) {
  const int64_t row = least(block.row, most(0, a.m - kBlockRows));
  const int64_t rows = least(kBlockRows, a.m), panel_size = a.k * kPanelColumns;
  const uint16_t* panel = a.w + block.panel * panel_size;
  const TileOperands operands{.rows = a.x + row * a.k,
                              .pitch = a.k,
                              .first = panel,
                              .second = panel + kTileSize,
                              .step = 2 * kTileSize,
                              .count = a.k / kTileDepth,
                              .block = rows};
  Ahead ahead;
  if (block.panel + 1 < g.panels) {
    const int64_t share = panel_size * 2 / 64 / block.blocks;
    const int64_t index = block.row / kBlockRows % g.in_chunk;
    ahead = {reinterpret_cast<const char*>(panel + panel_size) + index * share * 64, share};
  }
  alignas(64) float sums[kBlockRows * kPanelColumns];
  if (rows > kTileRows)
    multiply_tiles<true>(operands, false, sums, kPanelColumns, ahead);
  else
    multiply_tiles<false>(operands, false, sums, kPanelColumns, ahead);
  const int64_t column = block.panel * kPanelColumns;
  const Part part{row, block.row - row, rows, column, least(kPanelColumns, a.n - column)};
  for (int s = 0; s < a.steps; ++s) apply_step(a.step[s], a, part, sums);
  if (a.narrow)
    store<uint16_t>(a, part, sums);
  else
    store<float>(a, part, sums);
}

}  // namespace

void ENGINERY_KERNEL(tile_product)(const TileProductArguments& a) {
  const Grid g = grid_of(a);
  const double work = static_cast<double>(a.m * a.n) * static_cast<double>(a.k);
#pragma omp parallel if (work > 16.0 * kMinParallelWork)
  {
    configure_tiles(least(kBlockRows, a.m));
#pragma omp for schedule(static)
    for (int64_t task = 0; task < g.blocks * g.panels; ++task)
      multiply_block(a, g, block_of(g, task));
    release_tiles();
  }
}

}  // namespace enginery
