#include "engine/tactics/cuda/launch/launch_kernel.h"

#include <cstdlib>
#include <string_view>

namespace enginery {
namespace {

bool wanted() {
  const char* value = std::getenv("ENGINERY_EARLY_LAUNCH");
  return !value || std::string_view(value) != "off";
}

// Whether the stream is being captured and what is captured next depends on one kernel alone: a
// programmatic edge from anything else, or one of several, is not defined.
Result<bool> follows_a_kernel(const Driver& driver, CUstream stream) {
  if (!driver.cuLaunchKernelEx || !driver.cuStreamGetCaptureInfo_v3) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  CUDA_OK(driver,
          cuStreamGetCaptureInfo_v3(stream, &status, nullptr, nullptr, &nodes, &edges, &count));
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1) return false;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_OK(driver, cuGraphNodeGetType(nodes[0], &type));
  return type == CU_GRAPH_NODE_TYPE_KERNEL;
}

}  // namespace

Status launch_kernel(const Driver& driver, CUfunction function, const LaunchShape& shape,
                     CUstream stream, void** parameters, bool awaits) {
  static const bool kWanted = wanted();
  bool begins_early = false;
  if (awaits && kWanted) {
    TRY(begins_early, follows_a_kernel(driver, stream));
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

}  // namespace enginery
