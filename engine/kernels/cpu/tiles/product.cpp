// Matrix products in blocks of up to 32 rows by 32 columns, which stay in four tiles while the
// depth runs. Tasks are blocks; a thread's run over the rows of a chunk, whose values stay in the
// second cache, then go to the next panel of weights, which is fetched meanwhile: weights are read
// from memory once a chunk.
#include "engine/kernels/cpu/tiles/product_block.h"

namespace enginery {
namespace {

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

Block block_of(const Grid& g, int64_t task) {
  const int64_t chunk = task / (g.panels * g.in_chunk), rest = task % (g.panels * g.in_chunk);
  const int64_t blocks = least(g.in_chunk, g.blocks - chunk * g.in_chunk), place = rest % blocks;
  return {(chunk * g.in_chunk + place) * kBlockRows, rest / blocks, g.panels, place, blocks};
}

}  // namespace

void ENGINERY_KERNEL(tile_product)(const TileProductArguments& a) {
  const Grid g = grid_of(a);
  const double work = static_cast<double>(a.m * a.n) * static_cast<double>(a.k);
#pragma omp parallel if (work > 16.0 * kMinParallelWork)
  {
    configure_tiles(least(kBlockRows, a.m));
#pragma omp for schedule(static)
    for (int64_t task = 0; task < g.blocks * g.panels; ++task) multiply_block(a, block_of(g, task));
    release_tiles();
  }
}

}  // namespace enginery
