// PoolCase: one variant of conv_pool.cuh for one shape, pooling and element type: whether it
// serves, what it costs, its program and its launch. Floats and quantised numbers share it.
//
// Where: between the offers and plans of conv_pool.cpp and the text. Threads: a value and pure
// functions.
#pragma once

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/conv_pool/args.h"
#include "engine/tactics/shapes/pooled_conv.h"

namespace enginery {

// One row yields its tactics, its conformance tests and its compile test for every SM. A block is
// warps_q warps along a row of outputs, 16 columns of the convolution each, times warps_k along
// the channels, wn each; it walks down `strip` rows of pooled outputs.
struct PoolingVariant {
  int warps_q, wn, warps_k, strip;
  int threads() const { return warps_q * warps_k * 32; }
  int channels() const { return wn * warps_k; }
};

// The outputs of the pooling, its window and the padding in front.
struct PooledPlane {
  int64_t p = 1, q = 1, window = 3, pad = 1;
};

struct PoolCase {
  ConvShape shape;
  PooledPlane pooled;
  PoolingVariant variant;
  DataType type = DataType::float16;  // that is multiplied: float16, bfloat16, int8 or uint8
  bool from_floats = false;           // x is float32 in order

  int64_t pixel_bytes() const { return shape.c_pitch() * element_bytes(type); }
  int64_t window_bytes() const { return shape.s_pitch() * pixel_bytes(); }
  int64_t pairs() const { return 8 * variant.warps_q; }
  // Whether a block's first pair of columns is what the pooling of its second one reads.
  bool has_halo() const;
  int64_t across() const;  // blocks along a row
  int64_t strips() const;  // blocks along a column
  int64_t tiles_k() const { return divide_up(shape.k_pitch(), variant.channels()); }
  int64_t blocks() const { return shape.n * across() * strips() * tiles_k(); }
  // The column of the picture that the windows of a block begin at.
  int64_t first_x(int64_t block) const;
  // What the picture is copied by: so many bytes are inside of it together, or outside.
  int64_t copy_bytes() const;
  int64_t shared_bytes() const;
  // Registers of a thread that hold weights and sums.
  int64_t held_registers() const;
};

// The shape with a picture's padding of 4 channels, and the pooling behind it. Errors: unsupported.
Result<PooledPlane> pooled_plane(const PooledConv& region, ConvShape& shape, DataType type);

// All that serve; `from_floats`: those that read float32 in order.
std::vector<PoolCase> pool_cases(const ConvShape& shape, const PooledPlane& pooled, DataType type,
                                 bool from_floats, const KernelContext& context);

// "conv_pool/fp16_112x64x32_h14": columns and channels of a block, channels of a warp, rows.
std::string id_of(const PoolCase& c);

double estimate_us(const PoolCase& c, const KernelContext& context);

// `result` is the element type of y.
KernelProgram pool_program(const PoolCase& c, DataType result, const FusedEpilogue& epilogue);

// The launch with packed weights but for the epilogue's operands.
KernelLaunch pool_launch(const PoolCase& c, PackConstant weights, KernelPlan& plan);

// Elements along K that weights are packed by.
int64_t packed_k(const PoolCase& c);

}  // namespace enginery
