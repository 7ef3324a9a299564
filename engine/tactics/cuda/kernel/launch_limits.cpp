#include "engine/tactics/cuda/kernel/launch_limits.h"

#include <algorithm>

#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

constexpr int64_t kMaxElements = INT32_MAX;

Status require_countable(const std::vector<TensorDesc>& descs, const std::vector<Format>& formats) {
  for (size_t i = 0; i < std::min(descs.size(), formats.size()); ++i) {
    if (!descs[i].present) continue;
    const Format& format = formats[i];
    if (physical_bytes(descs[i].type.dims, format) / element_bytes(format.type) > kMaxElements)
      return refusal(to_string(descs[i].type) + " has more than 2^31 elements with its padding");
  }
  return {};
}

Status require_grid(const KernelLaunch& launch) {
  const auto& [x, y, z] = launch.grid;
  if (x > kMaxGridX || y > kMaxGridYZ || z > kMaxGridYZ || x == 0 || y == 0 || z == 0)
    return refusal("a grid of " + std::to_string(x) + "x" + std::to_string(y) + "x" +
                   std::to_string(z) + " blocks");
  if (uint64_t{x} * launch.threads > UINT32_MAX) return refusal("more than 2^32 threads");
  return {};
}

}  // namespace

bool may_exceed_limits(const Problem& problem) {
  constexpr int64_t kManyElements = int64_t{1}
                                    << 20;  // times 8 of padding, times 256 threads each: 2^31
  for (const auto* descs : {&problem.inputs, &problem.outputs})
    for (const TensorDesc& desc : *descs) {
      if (!desc.present || !is_static(desc.type.dims)) continue;
      const Dims& dims = desc.type.dims;
      const auto is_long = [](int64_t dim) { return dim > kMaxGridYZ; };
      if (volume(dims) >= kManyElements || std::any_of(dims.begin(), dims.end(), is_long))
        return true;
    }
  return false;
}

Status require_launchable(const Problem& problem, const Tactic& tactic, const KernelPlan& plan) {
  CHECK_OK(require_countable(problem.inputs, tactic.inputs));
  CHECK_OK(require_countable(problem.outputs, tactic.outputs));
  if (plan.workspace_bytes > kMaxKernelWorkspace)
    return refusal("a workspace of " + std::to_string(plan.workspace_bytes >> 20) + " MiB");
  for (const KernelLaunch& launch : plan.launches) CHECK_OK(require_grid(launch));
  return {};
}

}  // namespace enginery
