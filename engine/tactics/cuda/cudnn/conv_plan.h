// Execution plans of cuDNN: found by its heuristics, named by engine and knobs, made again from the
// name.
#pragma once

#include "engine/tactics/cuda/cudnn/conv_graph.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// An engine of cuDNN with its knob settings: "eng12_k1=4_k7=2". The name holds for one version of
// the library.
struct CudnnConfig {
  int64_t engine = 0;
  std::vector<std::pair<int64_t, int64_t>> knobs;  // type, value; in ascending order
  bool deterministic = true, tensor_cores = false, down_converts = false;
  bool narrow_sums = false;  // added up in less than the compute type
  Algorithm algorithm = Algorithm::direct;
  bool large_tiles = false;  // Winograd's transforms of 13x13, which lose several digits
  std::optional<int64_t>
      workspace_bytes;  // as the library says before it compiles; empty in versions that do not say

  std::string name() const;
  static std::optional<CudnnConfig> parse(const std::string& name);
};

// Whether the engine, by its numerical notes, keeps what the precision promises: fp32 full factors,
// every precision sums in float32, and transforms only where they round in float32.
bool keeps_promise(const CudnnConfig& config, Precision precision);

// Whether the engine is known to be wrong for the convolution. Engine 4 (9.14 and 9.19, Hopper)
// reads pixels through the tensor memory accelerator, whose element strides end at 8 (CUDA driver
// API, cuTensorMapEncodeIm2col), and asks for longer ones as well: patch embeddings come out wrong.
bool known_wrong(const CudnnConfig& config, const ConvShape& shape);

// What heuristics A, B and the fallback list propose for the graph, in that order, each once.
Result<std::vector<CudnnConfig>> propose_configs(const Cudnn& cudnn, const ConvGraph& graph);

// A finalised plan and the graph that it belongs to.
struct CudnnPlan {
  ConvGraph graph;
  std::vector<CudnnDescriptor> parts;
  CudnnDescriptor plan;
  int64_t workspace_bytes = 0;
};

// Compiles. Errors: unsupported (the engine refuses this graph or this card).
Result<CudnnPlan> make_plan(const Cudnn& cudnn, cudnnHandle_t handle, ConvGraph graph,
                            const CudnnConfig& config);

}  // namespace enginery
