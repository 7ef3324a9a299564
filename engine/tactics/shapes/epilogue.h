// The epilogue of a problem as GPU code fuses it: steps on the anchor's float32 result, and for
// each operand where it comes from and how it is read beside an element of the output.
//
// Where: read here once; lowered to kernel text (cuda/kernel/text/epilogue_text.h), to cuDNN's
// nodes, to cuBLASLt's epilogues, or refused there. Threads: values and pure functions.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/activation.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {

// How an operand is read for the output's element (m, k), k along the channels.
enum class OperandAccess {
  channel,        // float32 [padded channels], read at k
  same,           // the output's type and place
  image_channel,  // the output's type, [images][padded channels], read at (image of m, k)
  single,         // one float32
  broadcast,  // repeats along some other dimensions: read by BroadcastStrides; only beside outputs
              // without padding
};

// How a broadcast operand is read beside each element of the output's storage. Dimensions as the
// output is stored, outermost first, none of size 1; the operand's stride along each, in elements,
// is 0 where it repeats.
struct BroadcastStrides {
  std::vector<int64_t> dims, strides;
  DataType type = DataType::float32;  // of the operand

  // The next dimension inward; joined with the last where it runs on, skipped where its size is 1.
  void append(int64_t size, int64_t stride);
};

// The output as the epilogue sees it.
struct EpilogueFrame {
  Dims dims;
  int64_t channel_axis = 1;  // the dimension that k runs along
  int64_t padded = 0;        // channels with their padding
  Format format;
  bool broadcasts = false;  // whether its kernels read operands by BroadcastStrides (needs an
                            // output without padding)
};

// The frame of an output stored in order; what its kernels call channels runs along the last
// dimension.
EpilogueFrame frame_in_order(const Dims& dims, DataType type);

// Where an operand comes from.
struct EpilogueSource {
  OperandAccess access = OperandAccess::same;
  int input = -1;            // of the problem
  bool constant = false;     // packed when the tactic is prepared
  float scale = 1;           // constants are multiplied by it when they are packed
  BroadcastStrides strides;  // of a broadcast one
};

// How the problem's input, seen as `desc`, is read beside an output of the frame; nullopt where
// kernels have no such access. Integers and booleans are read as `same` or `broadcast`.
std::optional<EpilogueSource> classify_operand(int input, const TensorDesc& desc,
                                               const EpilogueFrame& frame);

// The format in which a tactic wants an operand that is no constant.
Format wanted_format(const EpilogueSource& source, const EpilogueFrame& frame);

enum class FusedStepKind { add, multiply, activation };

// v op= operand, or v = activation(v).
struct FusedStep {
  FusedStepKind kind = FusedStepKind::activation;
  Activation activation;
  OperandAccess access = OperandAccess::same;
  int slot = -1;  // index of the operand among the sources; -1 of an activation
  BroadcastStrides strides;
};

// The steps alone: what generated code depends on.
struct FusedEpilogue {
  std::vector<FusedStep> steps;
  DataType output = DataType::float32;  // of operands in the output's place
  bool zero_padding = false;            // write zeros to padding channels
};

struct LoweredEpilogue {
  FusedEpilogue code;
  std::vector<EpilogueSource> sources;  // one a slot, at most 6
  EpilogueFrame frame;
};

// A bias that the anchor itself has: input of the problem or -1, and Gemm's beta.
struct AnchorBias {
  int input = -1;
  float scale = 1;
};

// Errors: unsupported (a step that GPU code cannot fuse).
Result<LoweredEpilogue> lower_epilogue(const Problem& problem, const EpilogueFrame& frame,
                                       AnchorBias bias = {});

// Sets the formats in which the tactic wants the epilogue's operands.
void want_operands(const LoweredEpilogue& epilogue, Tactic& tactic);

}  // namespace enginery
