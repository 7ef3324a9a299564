// What the products in tiles have in common (product.cpp, tile_conv.cpp): weights as panels of
// tiles.
#pragma once

#include "engine/kernels/cpu/tiles/product.h"
#include "engine/tactics/cpu/kernel/product_chain.h"

namespace enginery {

// Values of a row of a tile: depths are multiples of it.
constexpr int64_t kTileStep = 32;

// bfloat16 weights of `n` columns and `k` rows as panels (TileProductArguments); `value`: of a
// column and a row.
Tensor pack_tile_panels(int64_t n, int64_t k,
                        const std::function<uint16_t(int64_t, int64_t)>& value);

// A product with its constants, ready to be launched.
struct PreparedTiles {
  TileProductArguments arguments;  // all but the addresses
  ChainOperands operands;
  Tensor panels;

  // The arguments of a launch.
  TileProductArguments at(const Arguments& launch) const;
};
PreparedTiles prepare_tiles(const TileProductArguments& sizes, const ProductChain& chain,
                            Tensor panels, const Tensor& addend, Weights weights);

// 400 GFLOP/s a thread with AMX, a sixth of what its tiles reach whose operands are at hand; 130
// with AVX-512 BF16. In movement_and_arithmetic_us's units.
double tile_flops_per_us(const CpuKernelContext& context);

}  // namespace enginery
