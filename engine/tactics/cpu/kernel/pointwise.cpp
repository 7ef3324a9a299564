// Family pointwise: an activation, unary, binary, PReLU or batch norm with its epilogue, or a
// region of such operators that is a chain, as one pass over memory.
#include <algorithm>

#include "engine/tactics/cpu/kernel/pointwise_chain.h"
#include "engine/tactics/shapes/reading.h"

namespace enginery {
namespace {

// One loop over the output, with every operand's stride along it, or after how many elements the
// operand repeats itself (0: it does not).
struct BroadcastLoop {
  int64_t extent, out_stride;
  std::vector<int64_t> strides;
  std::vector<int64_t> periods = {};
};

// The operand's stride along dimension d where it lies linear, 0 where it is broadcast.
int64_t linear_stride(const Dims& dims, size_t d) {
  if (dims[d] == 1) return 0;
  int64_t stride = 1;
  for (size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i];
  return stride;
}

bool is_whole(const PointwiseChain::Operand& operand, const Dims& dims) {
  return operand.dims == dims && !operand.constant;
}

// Whether the first input is read once, as it lies.
bool reads_first_input_once(const PointwiseChain& chain, const Dims& dims) {
  const auto is_first = [](const auto& operand) { return operand.input == 0; };
  const auto first = std::ranges::find_if(chain.operands, is_first);
  return std::ranges::count_if(chain.operands, is_first) == 1 && is_whole(*first, dims);
}

// Loops in the order of the output's addresses. Operands of the output's own dims lie as the output
// does, but for pitches.
std::vector<BroadcastLoop> loops_of(const CpuKernelContext& context, const Dims& dims,
                                    const PointwiseChain& chain, const Layout& layout) {
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
  const bool last = layout.kind == LayoutKind::channels_last;
  // Elements along a loop of a tensor with that pitch.
  const auto apart = [&](int64_t stride, int64_t pitch) {
    return last && pitch > 0 && stride > 1 ? stride / dims[1] * pitch : stride;
  };
  int64_t stride = 1;
  for (size_t i = loops.size(); i-- > 0;) {
    loops[i].out_stride = apart(stride, context.out_pitch);
    for (size_t o = 0; o < chain.operands.size(); ++o) {
      const auto& operand = chain.operands[o];
      if (is_whole(operand, dims))
        loops[i].strides[o] = apart(stride, operand.input == 0 ? context.in_pitch : 0);
    }
    stride *= loops[i].extent;
  }
  return loops;
}

// The two innermost loops as one where all that keeps them apart are operands that are the same in
// each turn of the outer one: one number for each channel of a pixel, or of a block. A short loop
// costs more to enter than to run.
void join_periods(const PointwiseChain& chain, std::vector<BroadcastLoop>& loops) {
  constexpr int64_t kLongestPeriod = 128;
  if (loops.size() < 2) return;
  const BroadcastLoop &outer = loops[loops.size() - 2], &inner = loops.back();
  if (inner.extent > kLongestPeriod || inner.out_stride != 1 || outer.out_stride != inner.extent)
    return;
  BroadcastLoop both{outer.extent * inner.extent, 1, inner.strides, {}};
  for (size_t o = 0; o < inner.strides.size(); ++o) {
    const bool goes_on = outer.strides[o] == inner.extent * inner.strides[o];
    const bool repeats = chain.operands[o].type == PointwiseType::float32 &&
                         outer.strides[o] == 0 && inner.strides[o] == 1;
    if (!goes_on && !repeats) return;
    both.periods.push_back(goes_on ? 0 : inner.extent);
  }
  loops.pop_back();
  loops.back() = std::move(both);
}

std::vector<BroadcastLoop> joined(const PointwiseChain& chain,
                                  const std::vector<BroadcastLoop>& loops) {
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
  join_periods(chain, out);
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

// About equal pieces of the innermost loop, in whole vectors or periods.
void set_pieces(const BroadcastLoop& inner, PointwiseArguments& a) {
  int64_t unit = 16;
  for (size_t o = 0; o < inner.periods.size(); ++o) {
    a.period[o] = inner.periods[o];
    if (a.period[o] > 0) unit = a.period[o];  // all the same
  }
  const int64_t most = kPointwisePiece / unit * unit, pieces = (inner.extent + most - 1) / most;
  a.piece = std::min(most, round_up((inner.extent + pieces - 1) / pieces, unit));
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
  set_pieces(loops.back(), a);
  for (size_t s = 0; s < chain.steps.size(); ++s) {
    const PointwiseChain::Step& step = chain.steps[s];
    a.step[s] = {step.function, step.operand, step.alpha, step.beta, step.condition};
  }
  for (size_t o = 0; o < chain.operands.size(); ++o) a.type[o] = chain.operands[o].type;
  Tactic tactic = cpu_kernel_tactic(p, "pointwise");
  tactic.outputs[0].layout = layout;
  for (const auto& o : chain.operands) {
    if (o.input >= 0 && is_whole(o, output_dims(p)))
      tactic.inputs[static_cast<size_t>(o.input)].layout = layout;
  }
  tactic.writes_pitched = layout.kind == LayoutKind::channels_last;
  tactic.reads_pitched = tactic.writes_pitched && reads_first_input_once(chain, output_dims(p));
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
    std::vector<BroadcastLoop> loops =
        joined(chain, loops_of(context, output_dims(p), chain, layout));
    if (loops.size() > kMaxPointwiseLoops) return no_cpu_kernel("pointwise with this broadcast");
    out.push_back(pointwise_candidate(context, p, chain, layout, loops));
  }
  return out;
}

}  // namespace enginery
