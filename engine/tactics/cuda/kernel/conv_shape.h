// ConvShape: convolutions and matrix products with constant weights as one thing: an implicit GEMM
// of m output pixels by k channels. Shared by every family and library that runs them.
#pragma once

#include "engine/tactics/cuda/kernel/epilogue_lowering.h"

namespace enginery {

struct ConvShape {
  int64_t n = 1, h = 1, w = 1, c = 1, k = 1, r = 1, s = 1, p = 1, q = 1;
  int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, pad_h_end = 0, pad_w_end = 0;
  int64_t dilation_h = 1, dilation_w = 1, groups = 1;
  bool product = false;     // a matrix product: x [m, c] and y [m, k] are linear
  bool transposed = false;  // product: weights are [k, c], not [c, k]
  float alpha = 1;          // product: factor of the weights
  AnchorBias bias;

  int64_t m() const { return n * p * q; }
  double flops() const {
    return 2.0 * static_cast<double>(m() * k) * static_cast<double>(r * s * (c / groups));
  }
  // A plain GEMM: every output pixel reads just its own input pixel.
  bool pointwise() const {
    return r == 1 && s == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0 &&
           pad_h_end == 0 && pad_w_end == 0;
  }
  // K runs on over (r, s, c) without gaps, because channels are no multiple of the kernel's step
  // along K.
  bool flat(int64_t bk) const { return !pointwise() && c_pitch() % bk != 0 && r <= 16; }
  // Channels as they lie in memory.
  int64_t c_pitch() const { return product ? c : padded_to_8(c); }
  int64_t k_pitch() const { return product ? k : padded_to_8(k); }
  Format x_format(DataType type) const {
    return product ? Format{type, {}} : channels_last_format(type, c);
  }
  Format y_format(DataType type) const {
    return product ? Format{type, {}} : channels_last_format(type, k);
  }
};

// Errors: unsupported (another operator, weights that are not constant, three spatial dimensions, a
// transposed input).
Result<ConvShape> conv_shape(const Problem& problem);

Result<LoweredEpilogue> lower_conv_epilogue(const Problem& problem, const ConvShape& shape,
                                            DataType type);

// The weights as float32 [k][r][s][c of the group], product weights scaled by alpha.
std::vector<float> filter_krsc(const ConvShape& shape, const Tensor& weights);

// Sizes, strides and divisors of the arguments; tiles and weights are the kernel's own.
gpu::ConvArgs conv_args(const ConvShape& shape);

// The pointers that every kernel of ConvArgs reads; `weights` is a constant of the plan.
std::vector<PointerSlot> conv_slots(int weights);

// Bytes that x, w and y take in `type`.
double conv_bytes(const ConvShape& shape, DataType type);

// The weights for implicit-GEMM kernels: rows of k padded to a multiple of `bn`, each (c-chunk of
// bk, r, s, c), or (r, s, c) where K is flat.
PackConstant pack_filter(const ConvShape& shape, DataType type, int64_t bk, int64_t bn,
                         bool round_to_tf32);
int64_t filter_steps(const ConvShape& shape, int64_t bk);

// For kernels whose threads compute `width` output channels each, 256 threads a block: adds their
// only launch.
void add_untiled_launch(const ConvShape& shape, int64_t width, PackConstant weights,
                        const LoweredEpilogue& epilogue, KernelPlan& plan);

// For kernels that divide K: gives `launch` the workspace for the parts, adds it to the plan, and
// turns it into the launch that adds the parts up, `vector` channels a thread (conv_parts.cuh).
void add_parts(const ConvShape& shape, int64_t bytes, int64_t vector, KernelPlan& plan,
               KernelLaunch& launch);

// Marks the formats of x, y and the epilogue's operands.
Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string id);

}  // namespace enginery
