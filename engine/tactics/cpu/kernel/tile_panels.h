// What the products in tiles have in common (tile_product.cpp, tile_conv.cpp): weights as panels of
// tiles, and the epilogue as the kernel's steps.
#pragma once

#include "engine/kernels/cpu/tiles/product.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

// Values of a row of a tile: depths are multiples of it.
constexpr int64_t kTileStep = 32;

// bfloat16 weights of `n` columns and `k` rows as panels (TileProductArguments); `value`: of a
// column and a row.
Tensor pack_tile_panels(int64_t n, int64_t k,
                        const std::function<uint16_t(int64_t, int64_t)>& value);

// Where an operand of the epilogue comes from, and how it lies.
struct TileOperand {
  int input;
  bool is_addend;  // of the product itself, `addend` of prepare_tile_product
  int64_t row, column;
  bool narrow;
};

// An epilogue as steps of the kernel.
struct TileChain {
  std::vector<PointwiseStep> steps;
  std::vector<TileOperand> operands;

  void append(PointwiseFunction function, const TileOperand& operand);
};

// Appends the problem's epilogue; `place` says how an operand lies. Errors: unsupported.
Status append_epilogue(const Problem& problem,
                       const std::function<Result<TileOperand>(const EpilogueStep&)>& place,
                       TileChain& chain);

// A product with its constants, ready to be launched.
struct PreparedTiles {
  TileProductArguments arguments;  // all but the addresses
  std::vector<TileOperand> operands;
  Tensor panels;
  std::vector<Tensor> constants;  // of each operand; empty: it comes at run time

  // The arguments of a launch.
  TileProductArguments at(const Arguments& launch) const;
};
PreparedTiles prepare_tiles(const TileProductArguments& sizes, const TileChain& chain,
                            Tensor panels, const Tensor& addend, Weights weights);

// 400 GFLOP/s a thread with AMX, a sixth of what its tiles reach whose operands are at hand; 130
// with AVX-512 BF16. In movement_and_arithmetic_us's units.
double tile_flops_per_us(const CpuKernelContext& context);

}  // namespace enginery
