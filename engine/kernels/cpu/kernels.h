// Our CPU kernels as the rest of enginery sees them: THE list, and a table of its functions for
// each instruction set.
//
// Two files of isa/ are one kernel, its arguments and its text. The texts are compiled once for
// each instruction set. They include plain headers only (isa/*.h, this one): an inline function of
// the standard library compiled there could replace, at link time, the copy that every machine can
// run. Kernels run in the calling thread and its OpenMP team, have no state, check nothing and may
// run from several threads at once. Tensors are float32 where the arguments name no other type.
#pragma once

#include <cstdint>

// One row a kernel: its name, as of its files in isa/, and its arguments.
#define ENGINERY_CPU_KERNELS(KERNEL)                 \
  KERNEL(copy, CopyArguments)                        \
  KERNEL(convert, ConvertArguments)                  \
  KERNEL(pool, PoolArguments)                        \
  KERNEL(pool_planes, PoolArguments)                 \
  KERNEL(pool_bytes, PoolBytesArguments)             \
  KERNEL(average_bytes, AverageBytesArguments)       \
  KERNEL(reduce, ReduceArguments)                    \
  KERNEL(gather, GatherArguments)                    \
  KERNEL(gather_elements, GatherElementsArguments)   \
  KERNEL(gather_nd, GatherNdArguments)               \
  KERNEL(scatter_elements, ScatterElementsArguments) \
  KERNEL(scatter_nd, ScatterNdArguments)             \
  KERNEL(select, SelectArguments)                    \
  KERNEL(discrete, DiscreteArguments)                \
  KERNEL(float64, Float64Arguments)                  \
  KERNEL(scan, ScanArguments)                        \
  KERNEL(top_k, TopKArguments)                       \
  KERNEL(arg_extreme, ArgExtremeArguments)           \
  KERNEL(quantize, QuantizeArguments)                \
  KERNEL(requantize, RequantizeArguments)            \
  KERNEL(resample, ResampleArguments)                \
  KERNEL(softmax, SoftmaxArguments)                  \
  KERNEL(attention, AttentionArguments)              \
  KERNEL(lrn, LrnArguments)                          \
  KERNEL(normalize, NormalizeArguments)              \
  KERNEL(pointwise, PointwiseArguments)              \
  KERNEL(depthwise, DepthwiseArguments)              \
  KERNEL(gemv, GemvArguments)                        \
  KERNEL(averaged_product, AveragedProductArguments) \
  KERNEL(winograd, WinogradArguments)                \
  KERNEL(conv_product, ConvProductArguments)         \
  KERNEL(depthwise_block, DepthwiseBlockArguments)   \
  KERNEL(pooled_conv, PooledConvArguments)

// Likewise those of bfloat16, which compute in tiles: their files are in tiles/, without the
// prefix.
#define ENGINERY_CPU_TILE_KERNELS(KERNEL)    \
  KERNEL(tile_product, TileProductArguments) \
  KERNEL(tile_conv, TileConvArguments)       \
  KERNEL(tile_attention, TileAttentionArguments)

namespace enginery {

#define ENGINERY_DECLARE(name, arguments) struct arguments;
ENGINERY_CPU_KERNELS(ENGINERY_DECLARE)
ENGINERY_CPU_TILE_KERNELS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE

// The kernels of one instruction set.
struct CpuKernels {
  int width;  // floats in a vector: 4, 8 or 16
#define ENGINERY_MEMBER(name, arguments) void (*name)(const arguments&);
  ENGINERY_CPU_KERNELS(ENGINERY_MEMBER)
};

// Those of bfloat16, in tiles.
struct CpuTileKernels {
  ENGINERY_CPU_TILE_KERNELS(ENGINERY_MEMBER)
#undef ENGINERY_MEMBER
};

}  // namespace enginery
