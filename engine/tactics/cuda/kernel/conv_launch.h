// What the convolution families share on the host: arguments, packed weights, and the launches of
// untiled and of split-K kernels.
//
// Where: called by the plans of conv_mma, conv_simt, conv_direct, deconv and gemv. Threads: pure
// functions.
#pragma once

#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

// A tactic of the `kernel` source with a convolution's formats.
Tactic make_conv_tactic(const Problem& problem, const ConvShape& shape,
                        const LoweredEpilogue& epilogue, std::string id);

// Sizes, strides and divisors of the arguments; tiles and weights are the kernel's own.
gpu::ConvArgs conv_args(const ConvShape& shape);

// Lets the kernel read and write with the pitches of the tactic's first input and output, where
// these have one. Errors: incompatible (another format than the family's with a pitch).
Status keep_to_pitches(const ConvShape& shape, const Tactic& tactic, KernelProgram& program,
                       gpu::ConvArgs& args);

// The pointers that every kernel of ConvArgs reads; `weights` is a constant of the plan.
std::vector<PointerSlot> conv_slots(int weights);

// The weights for implicit-GEMM kernels: rows of k padded to a multiple of `bn`, each (c-chunk of
// bk, r, s, c), or (r, s, c) where K is flat.
PackConstant pack_filter(const ConvShape& shape, DataType type, int64_t bk, int64_t bn,
                         bool round_to_tf32);
// The weights for kernels whose lanes run along output channels: [r][s][c of the group][k],
// float32.
PackConstant pack_for_lanes_of_k(const ConvShape& shape);
// Steps of bk along K.
int64_t filter_steps(const ConvShape& shape, int64_t bk);

// For kernels whose threads compute `width` output channels each, `threads` a block: adds their
// only launch.
void add_untiled_launch(const ConvShape& shape, int64_t width, int threads, PackConstant weights,
                        const LoweredEpilogue& epilogue, KernelPlan& plan);

// Bytes of split-K's partial sums in the workspace: [split_k][m][padded k] float32, k padded to
// tiles of bn.
int64_t partial_sum_bytes(const ConvShape& shape, int64_t split_k, int64_t bn);

// For split-K kernels: adds `launch` with a workspace of `bytes` for its partial sums to the plan,
// and turns it into the launch that adds them up, `vector` channels a thread (split_k.cuh).
void add_split_k(const ConvShape& shape, int64_t bytes, int64_t vector, KernelPlan& plan,
                 KernelLaunch& launch);

}  // namespace enginery
