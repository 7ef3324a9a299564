// Which launches begin before their predecessors end, and which must not, by a fake driver that
// records the calls.
#include "engine/tactics/cuda/launch/launch_kernel.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

// What the stream has captured last, and what was launched or put behind it.
struct Captured {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  size_t nodes = 1;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  int early = 0, ordinary = 0;
  CUgraphNode empty_behind = nullptr, depends_on = nullptr;
};
Captured captured;

template <typename Handle>
Handle handle(uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}
const CUgraphNode kLast = handle<CUgraphNode>(1), kEmpty = handle<CUgraphNode>(2);
const CUgraph kGraph = handle<CUgraph>(3);
const CUstream kStream = handle<CUstream>(4);

Driver recording_driver() {
  Driver out;
  out.cuStreamGetCaptureInfo_v3 = [](CUstream, CUstreamCaptureStatus* status, cuuint64_t*,
                                     CUgraph* graph, const CUgraphNode** nodes,
                                     const CUgraphEdgeData**, size_t* count) {
    *status = captured.status, *nodes = &kLast, *count = captured.nodes;
    if (graph) *graph = kGraph;
    return CUDA_SUCCESS;
  };
  out.cuGraphNodeGetType = [](CUgraphNode, CUgraphNodeType* type) {
    *type = captured.type;
    return CUDA_SUCCESS;
  };
  out.cuGraphAddEmptyNode = [](CUgraphNode* node, CUgraph graph, const CUgraphNode* behind,
                               size_t count) {
    EXPECT_EQ(graph, kGraph);
    EXPECT_EQ(count, 1u);
    captured.empty_behind = *behind;
    *node = kEmpty;
    return CUDA_SUCCESS;
  };
  out.cuStreamUpdateCaptureDependencies_v2 = [](CUstream stream, CUgraphNode* nodes,
                                                const CUgraphEdgeData* edges, size_t count,
                                                unsigned flags) {
    EXPECT_EQ(stream, kStream);
    EXPECT_EQ(edges, nullptr);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    captured.depends_on = *nodes;
    return CUDA_SUCCESS;
  };
  out.cuLaunchKernelEx = [](const CUlaunchConfig* config, CUfunction, void**, void**) {
    EXPECT_EQ(config->numAttrs, 1u);
    EXPECT_EQ(config->attrs[0].id, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    ++captured.early;
    return CUDA_SUCCESS;
  };
  out.cuLaunchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream, void**, void**) {
    ++captured.ordinary;
    return CUDA_SUCCESS;
  };
  return out;
}

// Whether a kernel behind `before` begins early.
bool begins_early(const Captured& before, bool awaits = true, Driver driver = recording_driver()) {
  captured = before;
  const Status done =
      launch_kernel(driver, handle<CUfunction>(5), {{1, 1, 1}, 32, 0}, kStream, nullptr, awaits);
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(captured.early + captured.ordinary, 1);
  return captured.early == 1;
}

// Whether something stands between `before` and what is captured next.
bool stands_between(const Captured& before, Driver driver = recording_driver()) {
  captured = before;
  EXPECT_TRUE(begin_after_all(driver, kStream).ok());
  EXPECT_TRUE(!captured.empty_behind || captured.empty_behind == kLast);
  return captured.depends_on == kEmpty;
}

const Captured kNoEdge[] = {{.status = CU_STREAM_CAPTURE_STATUS_NONE},
                            {.nodes = 0},
                            {.nodes = 2},
                            {.type = CU_GRAPH_NODE_TYPE_MEMSET}};

TEST(LaunchKernel, BeginsEarlyBehindAKernel) {
  EXPECT_TRUE(begins_early({}));
}

TEST(LaunchKernel, WaitsForWhatHasNoProgrammaticEdge) {
  for (const Captured& before : kNoEdge) EXPECT_FALSE(begins_early(before));
}

TEST(LaunchKernel, WaitsWhereTheKernelDoesNotWaitItself) {
  EXPECT_FALSE(begins_early({}, false));
}

TEST(LaunchKernel, WaitsOnDriversThatCannotTell) {
  Driver older = recording_driver();
  older.cuStreamGetCaptureInfo_v3 = nullptr;
  EXPECT_FALSE(begins_early({}, true, older));
}

TEST(BeginAfterAll, PutsAnEmptyNodeBehindAKernel) {
  EXPECT_TRUE(stands_between({}));
  EXPECT_EQ(captured.empty_behind, kLast);
}

TEST(BeginAfterAll, LeavesWhatHasNoProgrammaticEdge) {
  for (const Captured& before : kNoEdge) {
    EXPECT_FALSE(stands_between(before));
    EXPECT_EQ(captured.empty_behind, nullptr);
  }
}

// They are older than libraries that launch early.
TEST(BeginAfterAll, LeavesDriversThatCannotTell) {
  Driver older = recording_driver();
  older.cuStreamUpdateCaptureDependencies_v2 = nullptr;
  EXPECT_FALSE(stands_between({}, older));
  EXPECT_EQ(captured.empty_behind, nullptr);
}

}  // namespace
}  // namespace enginery
