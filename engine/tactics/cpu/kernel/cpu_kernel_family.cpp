#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

#include <limits>

#include "engine/tactics/shapes/view.h"

namespace enginery {

Tactic cpu_kernel_tactic(const Problem& problem, std::string id) {
  Tactic tactic;
  tactic.source = "kernel";
  tactic.id = std::move(id);
  for (const TensorDesc& desc : problem.inputs) tactic.inputs.push_back({desc.type.type, {}});
  for (const TensorDesc& desc : problem.outputs) tactic.outputs.push_back({desc.type.type, {}});
  return tactic;
}

std::optional<NumberType> number_type(DataType type) {
  if (type == DataType::float32) return NumberType::float32;
  if (type == DataType::int32) return NumberType::int32;
  if (type == DataType::int64) return NumberType::int64;
  return std::nullopt;
}

double movement_us(const CpuKernelContext& context, const Problem& problem) {
  constexpr double kLaunch_us = 1, kBytesPerMicrosecond = 8000;
  return kLaunch_us + least_bytes(problem) / (kBytesPerMicrosecond * context.threads);
}

double movement_and_arithmetic_us(const CpuKernelContext& context, const Problem& problem,
                                  double flops_per_us) {
  return movement_us(context, problem) +
         flop_count(problem) / (flops_per_us * context.threads * context.kernels.width);
}

bool has_channels_last(const Dims& dims) {
  return dims.size() >= 3 && dims.size() <= 5;
}

std::vector<Layout> unblocked_layouts(const Dims& dims) {
  std::vector<Layout> out{{}};
  if (has_channels_last(dims)) out.push_back(channels_last_layout());
  return out;
}

std::vector<Layout> dense_layouts(const CpuKernelContext& context, const Dims& dims) {
  std::vector<Layout> out;
  if (has_channels_last(dims)) out.push_back(channels_last_layout());
  out.push_back({});
  if (has_channels_last(dims) && dims[1] % context.block() == 0)
    out.push_back({LayoutKind::blocked, context.block()});
  return out;
}

std::optional<EpilogueBounds> read_bounds(const Problem& p, BiasAllowed bias_allowed) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  EpilogueBounds bounds{-1, -kInfinite, kInfinite};
  size_t i = 0;
  if (i < p.epilogue.size() && p.epilogue[i].kind == EpilogueKind::bias &&
      bias_allowed == BiasAllowed::yes) {
    bounds.bias = p.epilogue[i++].operand;
    if (!p.inputs[static_cast<size_t>(bounds.bias)].constant) return {};
  }
  if (i < p.epilogue.size() && p.epilogue[i].kind == EpilogueKind::activation) {
    const Activation& a = p.epilogue[i++].activation;
    if (a.kind == ActivationKind::relu) {
      bounds.low = 0;
    } else if (a.kind == ActivationKind::clip) {
      bounds.low = a.alpha;
      bounds.high = a.beta;
    } else {
      return {};
    }
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

Status require_plane(const Problem& p, const std::string& what) {
  const size_t rank = input_dims(p, 0).size();
  if (rank != 3 && rank != 4) return no_cpu_kernel(what + " of rank " + std::to_string(rank));
  if (p.inputs[0].type.type != DataType::float32)
    return no_cpu_kernel(what + " of " + to_string(p.inputs[0].type));
  return {};
}

AxisExtents linear_extents(const Dims& dims, size_t first, size_t last) {
  AxisExtents e;
  for (size_t d = 0; d < dims.size(); ++d)
    (d < first ? e.outer : d > last ? e.inner : e.size) *= dims[d];
  return e;
}

std::vector<CpuKernelCandidate> view_candidates(const Problem& p) {
  std::vector<CpuKernelCandidate> out;
  for (const Layout& from : unblocked_layouts(input_dims(p, 0))) {
    for (const Layout& to : unblocked_layouts(output_dims(p))) {
      if (!is_view(p, from, to)) continue;
      Tactic tactic = cpu_kernel_tactic(p, "view");
      tactic.inputs[0].layout = from;
      tactic.outputs[0].layout = to;
      tactic.view_of = 0;
      out.push_back({std::move(tactic), {}});
    }
  }
  return out;
}

}  // namespace enginery
