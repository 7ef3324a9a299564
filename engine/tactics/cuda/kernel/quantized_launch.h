// What the convolution families share on the host for products of quantised numbers
// (shapes/quantized_product.h): their shape, formats, epilogue and constants.
//
// Where: called by the offers and plans of conv_mma, conv_simt and depthwise for regions. Threads:
// pure functions.
//
// The sums of integers are exact; the epilogue is in float32: sums by their scale, the bias, the
// activation, then the result's scale, rounded when it is stored (text/bytes.cuh).
#pragma once

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/shapes/quantized_product.h"

namespace enginery {

// A region as a convolution or GEMM. Tensors of 8 bits have their channels padded to 16.
struct QuantizedConv {
  QuantizedProduct product;
  ConvShape shape;  // its bias: an input of the region
};
// Errors: unsupported.
Result<QuantizedConv> quantized_conv(const Problem& problem);
Result<QuantizedConv> quantized_conv(QuantizedProduct product);

// The tactics of the `kernel` source with the region's formats but for their ids and estimates: one
// for each type in which the result and the addend may be kept.
std::vector<Tactic> quantized_tactics(const Problem& problem, const QuantizedConv& conv,
                                      const KernelContext& context);

// The epilogue's steps for a tactic; its operands are what attach_quantized gives to the launch,
// whose arguments hold EpilogueArgs at `offset`.
FusedEpilogue quantized_epilogue(const QuantizedConv& conv, const Tactic& tactic);
void attach_quantized(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                      KernelLaunch& launch);
// The same but for the addend, which the kernel has itself.
void attach_quantized_constants(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                                KernelLaunch& launch);

// What a product is before it is rounded to 8 bits: its sums by a factor for each channel, then a
// bias for each (zeros where it has none), in the result's unit. Constants of the plan for operands
// 0 and 1 of the EpilogueArgs at `offset`.
void attach_rounded_sums(const QuantizedConv& conv, size_t offset, KernelPlan& plan,
                         KernelLaunch& launch);

// Packs an input of a region as the weights of a problem that has nothing but them as input 1.
PackConstant pack_region_weights(int input, PackConstant pack);

}  // namespace enginery
