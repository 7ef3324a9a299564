// Family pointwise: an activation, unary, binary, PReLU or batch norm with its epilogue, or a
// region of such operators that is a chain, as one pass over memory.
#include <algorithm>

#include "engine/tactics/cpu/kernel/pointwise_chain.h"

namespace enginery {
namespace {

// One loop over the output, with every operand's stride along it.
struct BroadcastLoop {
  int64_t extent, out_stride;
  std::vector<int64_t> strides;
};

// The operand's stride along dimension d where it lies linear, 0 where it is broadcast.
int64_t linear_stride(const Dims& dims, size_t d) {
  if (dims[d] == 1) return 0;
  int64_t stride = 1;
  for (size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i];
  return stride;
}

// Loops in the order of the output's addresses. Operands of the output's own dims lie as the output
// does.
std::vector<BroadcastLoop> loops_of(const Dims& dims, const PointwiseChain& chain,
                                    const Layout& layout) {
  std::vector<BroadcastLoop> loops;
  auto append = [&](size_t d, int64_t extent, int64_t factor) {
    BroadcastLoop loop{extent, 0, {}};
    for (const auto& o : chain.operands) loop.strides.push_back(linear_stride(o.dims, d) * factor);
    loops.push_back(std::move(loop));
  };
  bool linear = layout.kind == LayoutKind::linear, blocked = layout.kind == LayoutKind::blocked;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d == 1 && blocked)
      append(d, dims[1] / layout.block, layout.block);
    else if (d != 1 || linear)
      append(d, dims[d], 1);
  }
  if (!linear) append(1, blocked ? layout.block : dims[1], 1);
  if (loops.empty()) loops.push_back({1, 1, std::vector<int64_t>(chain.operands.size(), 0)});
  int64_t stride = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].out_stride = stride;
    for (size_t o = 0; o < chain.operands.size(); ++o) {
      bool whole = chain.operands[o].dims == dims && !chain.operands[o].constant;
      if (whole) loops[i].strides[o] = stride;
    }
    stride *= loops[i].extent;
  }
  return loops;
}

std::vector<BroadcastLoop> joined(const std::vector<BroadcastLoop>& loops) {
  std::vector<BroadcastLoop> out;
  for (const BroadcastLoop& loop : loops) {
    if (loop.extent == 1) continue;
    bool joins = !out.empty() && out.back().out_stride == loop.extent * loop.out_stride;
    for (size_t o = 0; joins && o < loop.strides.size(); ++o)
      joins = out.back().strides[o] == loop.extent * loop.strides[o];
    if (joins)
      out.back() = {out.back().extent * loop.extent, loop.out_stride, loop.strides};
    else
      out.push_back(loop);
  }
  if (out.empty()) out.push_back({1, 1, loops[0].strides});
  // A short innermost loop costs more to enter than to run: a long one goes inside instead, in
  // steps.
  constexpr int64_t kShort = 16, kLong = 64;
  auto longest = std::max_element(
      out.begin(), out.end(),
      [](const BroadcastLoop& a, const BroadcastLoop& b) { return a.extent < b.extent; });
  if (out.back().extent < kShort && longest->extent >= kLong)
    std::rotate(longest, longest + 1, out.end());
  return out;
}

// A power by one number that has a function of its own becomes that.
void simplify_powers(PointwiseArguments& a, const std::vector<Tensor>& constants) {
  for (PointwiseStep& step : std::span(a.step, static_cast<size_t>(a.steps))) {
    if (step.function != PointwiseFunction::pow) continue;
    const Tensor& exponents = constants[static_cast<size_t>(step.operand)];
    if (exponents.size() != 1 || exponents.type() != DataType::float32) continue;
    const float exponent = exponents.data<float>()[0];
    if (exponent == 3)
      step = {PointwiseFunction::cube, -1, 0, 0};
    else if (exponent == 0.5f)
      step = {PointwiseFunction::power_of_half, -1, 0, 0};
  }
}

CpuKernelCandidate pointwise_candidate(const CpuKernelContext& context, const Problem& p,
                                       const PointwiseChain& chain, const Layout& layout,
                                       const std::vector<BroadcastLoop>& loops) {
  PointwiseArguments a{};
  a.operands = static_cast<int>(chain.operands.size());
  a.steps = static_cast<int>(chain.steps.size());
  a.loops = static_cast<int>(loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    a.extent[i] = loops[i].extent;
    a.out_stride[i] = loops[i].out_stride;
    for (size_t o = 0; o < chain.operands.size(); ++o) a.operand_stride[o][i] = loops[i].strides[o];
  }
  for (size_t s = 0; s < chain.steps.size(); ++s) {
    const PointwiseChain::Step& step = chain.steps[s];
    a.step[s] = {step.function, step.operand, step.alpha, step.beta, step.condition};
  }
  for (size_t o = 0; o < chain.operands.size(); ++o) a.type[o] = chain.operands[o].type;
  Tactic tactic = cpu_kernel_tactic(p, "pointwise");
  tactic.outputs[0].layout = layout;
  for (const auto& o : chain.operands) {
    bool whole = o.input >= 0 && !o.constant && o.dims == output_dims(p);
    if (whole) tactic.inputs[static_cast<size_t>(o.input)].layout = layout;
  }
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 2000);
  auto build = [kernel = context.kernels.pointwise, a,
                operands = chain.operands](Weights weights) -> CpuKernelRun {
    std::vector<Tensor> constants;
    for (const auto& o : operands) constants.push_back(o.constant ? o.constant(weights) : Tensor());
    PointwiseArguments prepared = a;
    simplify_powers(prepared, constants);
    return [=](const Arguments& arguments) {
      auto call = prepared;
      for (size_t o = 0; o < operands.size(); ++o) {
        call.operand[o] = operands[o].constant
                              ? constants[o].raw()
                              : arguments.inputs[static_cast<size_t>(operands[o].input)];
      }
      call.out = static_cast<float*>(arguments.outputs[0]);
      kernel(call);
    };
  };
  return {std::move(tactic), build};
}

}  // namespace

CpuKernelCandidates offer_cpu_pointwise(const CpuKernelContext& context, const Problem& p) {
  TRY(PointwiseChain chain, read_chain(p));
  std::vector<CpuKernelCandidate> out;
  const bool floats = std::ranges::all_of(
      chain.operands, [](const auto& o) { return o.type == PointwiseType::float32; });
  const std::vector<Layout> layouts =
      floats ? dense_layouts(context, output_dims(p)) : std::vector<Layout>{{}};
  for (const Layout& layout : layouts) {
    std::vector<BroadcastLoop> loops = joined(loops_of(output_dims(p), chain, layout));
    if (loops.size() > kMaxPointwiseLoops) return no_cpu_kernel("pointwise with this broadcast");
    out.push_back(pointwise_candidate(context, p, chain, layout, loops));
  }
  return out;
}

}  // namespace enginery
