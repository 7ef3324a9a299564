// ConvGraph: a convolution with its epilogue as a cuDNN operation graph (NHWC, sums and pointwise
// steps in float32).
//
// Where: between the reading of a problem (shapes/) and cuDNN's heuristics and plans (conv_plan.h).
// Threads: belongs to the handle that it was made with; whoever uses either holds the handle's
// mutex.
#pragma once

#include "engine/tactics/cuda/cudnn/descriptor.h"
#include "engine/tactics/shapes/conv_shape.h"

namespace enginery {

// Unique ids of the graph's tensors; operands of the epilogue follow from kOperandIds on, one a
// slot.
enum CudnnTensorIds : int64_t { kXId = 1, kWId = 2, kYId = 3, kOperandIds = 10, kVirtualIds = 100 };

// The operation graph of one problem in one element type. Owns every descriptor that it is made of.
struct ConvGraph {
  std::vector<CudnnDescriptor> parts;
  CudnnDescriptor graph;
};

// What cuDNN computes in: tf32, fp16 and bf16 on tensor cores, fp32 strictly.
// Errors: unsupported (an epilogue step that cuDNN does not have).
Result<ConvGraph> make_conv_graph(const Cudnn& cudnn, cudnnHandle_t handle, const ConvShape& shape,
                                  const LoweredEpilogue& epilogue);

}  // namespace enginery
