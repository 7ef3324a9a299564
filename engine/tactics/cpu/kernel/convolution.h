// Dense convolutions: the ways in which family convolution computes them, and what these share.
#pragma once

#include "engine/kernels/cpu/isa/depthwise.h"
#include "engine/kernels/cpu/isa/pointwise.h"
#include "engine/kernels/cpu/isa/products/conv_product.h"
#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {

// [bias] [+ residual] [clip], the epilogue that their kernels have, or [bias] and activations.
struct ConvolutionEpilogue {
  EpilogueBounds bounds;  // `bias` is the convolution's own where it has one
  int residual = -1;      // problem input of the output's dims, or -1
  std::vector<PointwiseStep> activations;
};
enum class ActivationsAllowed { yes, no };  // others than a clip
// Errors: unsupported (another epilogue, a bias that is no constant).
Result<ConvolutionEpilogue> read_convolution_epilogue(const Problem& problem,
                                                      ActivationsAllowed allowed);

// Which layouts a side can have: channels-last, and blocked by the kernels' vectors.
std::vector<Layout> side_layouts(const CpuKernelContext& context, int64_t channels);

// The layouts of a tactic's input, of its output, and of the residual, which lies as the output and
// may be taken over by it. A channels-last input may have a pitch, and so may a channels-last
// output where there is no residual.
void set_sides(const Layout& from, const Layout& to, const ConvolutionEpilogue& epilogue,
               Tactic& tactic);

// The bias (null: zeros) of `channels` output channels, padded to whole panels of two vectors.
Tensor pad_bias(const Tensor* bias, int64_t channels, int64_t width);

// Products over the depth of the window (conv_product.cpp): any convolution without groups.
CpuKernelCandidates conv_product_candidates(const CpuKernelContext& context, const Problem& problem,
                                            const ConvolutionEpilogue& epilogue);

// Products in tiles of bfloat16 (tile_conv.cpp): any convolution without groups, any epilogue.
CpuKernelCandidates tile_conv_candidates(const CpuKernelContext& context, const Problem& problem);

// How many pixels at a time, and the scratch for them. A block of pixels stays in L2 while all
// weights pass by: as few blocks as fit, of equal size, in whole tiles; but not so few pixels that
// the weights are all that is read.
void set_block(int64_t width, ConvProductArguments& arguments);

// Whether it is a 1x1 convolution without groups, strides and padding, with constant weights.
bool is_pixel_product(const Problem& problem);
// Weights [K, C, 1, 1] as panels of two vectors of output channels, [panel][C][2 * width], the rest
// zero.
Tensor pack_panels(const Tensor& weights, int64_t width);

// A depthwise convolution: the fields of set_windows, and where its constants come from.
struct DepthwiseConvolution {
  DepthwiseArguments arguments;
  int bias;  // problem input, or -1
};
// Errors: unsupported.
Result<DepthwiseConvolution> read_depthwise(const CpuKernelContext& context, const Problem& problem,
                                            ActivationsAllowed allowed);
// Weights [channels, 1, taps...] as [taps, padded], with zeros behind the channels.
Tensor pack_taps(const Tensor& weights, int64_t padded);

// Winograd's products (winograd.cpp): 3x3 windows of stride 1.
CpuKernelCandidates winograd_candidates(const CpuKernelContext& context, const Problem& problem,
                                        const ConvolutionEpilogue& epilogue);

// Estimated microseconds of products whose operands stay in registers.
double product_us(const CpuKernelContext& context, double flops, double bytes);

}  // namespace enginery
