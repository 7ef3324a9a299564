// From a problem's epilogue to the kernels' generated code: which operand is read how, in which
// format, from where.
#pragma once

#include "engine/kernels/cuda/epilogue.h"
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {

// The output as the epilogue sees it.
struct EpilogueFrame {
  Dims dims;
  int64_t channel_axis = 1;  // where k runs
  int64_t padded = 0;        // channels with their padding (ldy)
  Format format;
  bool walks = false;  // whether its kernels can read what repeats in any other way (no padding)
};

// An output stored in order; what its kernels call channels runs along the last dimension.
EpilogueFrame frame_in_order(const Dims& dims, DataType type);

struct EpilogueSource {
  OperandAccess access = OperandAccess::same;
  int input = -1;  // of the problem
  bool constant = false;
  float scale = 1;   // constants are multiplied by it when they are packed
  OperandWalk walk;  // of a walked one
};

// How the problem's input, seen as `desc`, is read beside an output of the frame; nullopt where
// kernels have no such access.
std::optional<EpilogueSource> classify_operand(int input, const TensorDesc& desc,
                                               const EpilogueFrame& frame);

// The format in which a tactic wants an operand that is no constant.
Format wanted_format(const EpilogueSource& source, const EpilogueFrame& frame);

struct LoweredEpilogue {
  EpilogueCode code;
  std::vector<EpilogueSource> sources;  // one a slot
  EpilogueFrame frame;
};

// A bias that the anchor itself has: input of the problem or -1, and Gemm's beta.
struct AnchorBias {
  int input = -1;
  float scale = 1;
};

// Errors: unsupported (a step that no kernel can fuse).
Result<LoweredEpilogue> lower_epilogue(const Problem& problem, const EpilogueFrame& frame,
                                       AnchorBias bias = {});

// Sets the formats in which the tactic wants the epilogue's operands.
void want_operands(const LoweredEpilogue& epilogue, Tactic& tactic);

// Adds constants and pointer slots to a launch whose arguments hold EpilogueArgs at `offset`.
void attach_epilogue(const LoweredEpilogue& epilogue, size_t offset, KernelPlan& plan,
                     KernelLaunch& launch);
void attach_sources(const std::vector<EpilogueSource>& sources, const EpilogueFrame& frame,
                    size_t offset, KernelPlan& plan, KernelLaunch& launch);

}  // namespace enginery
