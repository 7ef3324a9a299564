#include "engine/tactics/cpu/kernel/candidate.h"

#include <limits>

namespace enginery::cpu_kernel {

Tactic base_tactic(const Problem& problem, std::string id) {
  Tactic tactic;
  tactic.source = "kernel";
  tactic.id = std::move(id);
  for (const TensorDesc& desc : problem.inputs) tactic.inputs.push_back({desc.type.type, {}});
  for (const TensorDesc& desc : problem.outputs) tactic.outputs.push_back({desc.type.type, {}});
  return tactic;
}

double movement_us(const Context& context, const Problem& problem) {
  constexpr double kLaunch_us = 1, kBytesPerMicrosecond = 8000;
  return kLaunch_us + least_bytes(problem) / (kBytesPerMicrosecond * context.threads);
}

std::vector<Layout> dense_layouts(const Context& context, const Dims& dims) {
  std::vector<Layout> out;
  int32_t block = context.isa >= CpuIsa::avx512 ? 16 : 8;
  bool image = dims.size() >= 3 && dims.size() <= 5;
  if (image) out.push_back({LayoutKind::channels_last, 0});
  out.push_back({});
  if (image && dims[1] % block == 0) out.push_back({LayoutKind::blocked, block});
  return out;
}

std::optional<Bounds> read_bounds(const Problem& p, BiasAllowed bias_allowed) {
  Bounds bounds{-1, -std::numeric_limits<float>::infinity(),
                std::numeric_limits<float>::infinity()};
  size_t i = 0;
  if (i < p.epilogue.size() && p.epilogue[i].kind == EpilogueKind::bias &&
      bias_allowed == BiasAllowed::yes) {
    bounds.bias = p.epilogue[i++].operand;
    if (!p.inputs[static_cast<size_t>(bounds.bias)].constant) return {};
  }
  if (i < p.epilogue.size() && p.epilogue[i].kind == EpilogueKind::activation) {
    const Activation& a = p.epilogue[i++].activation;
    if (a.kind == ActivationKind::relu)
      bounds.low = 0;
    else if (a.kind == ActivationKind::clip)
      bounds.low = a.alpha, bounds.high = a.beta;
    else
      return {};
  }
  if (i < p.epilogue.size()) return {};
  return bounds;
}

Plane plane_of(const std::vector<int64_t>& spatial, int64_t missing) {
  if (spatial.size() == 1) return {missing, spatial[0]};
  return {spatial[0], spatial[1]};
}

Plane plane_of_dims(const Dims& dims) {
  return plane_of({dims.begin() + 2, dims.end()}, 1);
}

}  // namespace enginery::cpu_kernel
