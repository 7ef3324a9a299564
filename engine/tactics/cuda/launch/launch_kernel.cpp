#include "engine/tactics/cuda/launch/launch_kernel.h"

#include <cstdlib>
#include <optional>
#include <string_view>

namespace enginery {
namespace {

bool wanted() {
  const char* value = std::getenv("ENGINERY_EARLY_LAUNCH");
  return !value || std::string_view(value) != "off";
}

// What a stream that is being captured depends on next, where that is one kernel alone: a
// programmatic edge from anything else, or one of several, is not defined.
struct LastKernel {
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
};

Result<std::optional<LastKernel>> last_kernel(const Driver& driver, CUstream stream) {
  if (!driver.cuLaunchKernelEx || !driver.cuStreamGetCaptureInfo_v3)
    return std::optional<LastKernel>();
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  LastKernel last;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  CUDA_OK(driver,
          cuStreamGetCaptureInfo_v3(stream, &status, nullptr, &last.graph, &nodes, &edges, &count));
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) return std::optional<LastKernel>();
  last.node = nodes[0];
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_OK(driver, cuGraphNodeGetType(last.node, &type));
  return type == CU_GRAPH_NODE_TYPE_KERNEL ? std::optional(last) : std::nullopt;
}

}  // namespace

Status launch_kernel(const Driver& driver, CUfunction function, const LaunchShape& shape,
                     CUstream stream, void** parameters, bool awaits) {
  static const bool kWanted = wanted();
  bool begins_early = false;
  if (awaits && kWanted) {
    TRY(const auto last, last_kernel(driver, stream));
    begins_early = last.has_value();
  }
  if (!begins_early) {
    CUDA_OK(driver,
            cuLaunchKernel(function, shape.grid[0], shape.grid[1], shape.grid[2], shape.threads, 1,
                           1, shape.shared_bytes, stream, parameters, nullptr));
    return {};
  }
  CUlaunchAttribute programmatic = {};
  programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  programmatic.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = shape.grid[0], config.gridDimY = shape.grid[1], config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.threads, config.blockDimY = 1, config.blockDimZ = 1;
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = &programmatic, config.numAttrs = 1;
  CUDA_OK(driver, cuLaunchKernelEx(&config, function, parameters, nullptr));
  return {};
}

Status begin_after_all(const Driver& driver, CUstream stream) {
  TRY(const auto last, last_kernel(driver, stream));
  if (!last || !driver.cuStreamUpdateCaptureDependencies_v2) return {};
  CUgraphNode between = nullptr;
  CUDA_OK(driver, cuGraphAddEmptyNode(&between, last->graph, &last->node, 1));
  CUDA_OK(driver, cuStreamUpdateCaptureDependencies_v2(stream, &between, nullptr, 1,
                                                       CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  return {};
}

}  // namespace enginery
