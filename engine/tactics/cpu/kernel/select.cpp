// Family select: Where over linear tensors of any type that repeat as broadcasting allows.
#include "engine/kernels/cpu/isa/select.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"

namespace enginery {
namespace {

// One dimension of the output with the strides of the three operands, 0 where they repeat.
struct SelectLoop {
  int64_t extent = 1;
  std::array<int64_t, 3> stride{};
};

std::vector<SelectLoop> loops_over(const Problem& p) {
  const Dims& out = output_dims(p);
  std::vector<SelectLoop> loops(out.size());
  for (size_t d = 0; d < out.size(); ++d) loops[d].extent = out[d];
  for (size_t o = 0; o < 3; ++o) {
    const Dims dims = aligned(input_dims(p, o), out.size()), strides = strides_of(dims);
    for (size_t d = 0; d < out.size(); ++d) loops[d].stride[o] = dims[d] == 1 ? 0 : strides[d];
  }
  return loops;
}

// Without loops of one turn, neighbours that run on joined; at least one is left.
std::vector<SelectLoop> with_neighbours_joined(const std::vector<SelectLoop>& loops) {
  std::vector<SelectLoop> out;
  for (const SelectLoop& loop : loops) {
    if (loop.extent == 1) continue;
    bool joins = !out.empty();
    for (size_t o = 0; joins && o < 3; ++o)
      joins = out.back().stride[o] == loop.extent * loop.stride[o];
    if (joins)
      out.back() = {out.back().extent * loop.extent, loop.stride};
    else
      out.push_back(loop);
  }
  if (out.empty()) out.emplace_back();
  return out;
}

}  // namespace

CpuKernelCandidates offer_cpu_select(const CpuKernelContext& context, const Problem& p) {
  if (!p.epilogue.empty()) return no_cpu_kernel("a choice with an epilogue");
  const std::vector<SelectLoop> loops = with_neighbours_joined(loops_over(p));
  if (loops.size() > static_cast<size_t>(kMaxSelectLoops))
    return no_cpu_kernel("a choice of high rank");
  SelectArguments a{};
  a.element_bytes = static_cast<int>(element_bytes(p.outputs[0].type.type));
  a.loops = static_cast<int>(loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    a.extent[i] = loops[i].extent;
    for (size_t o = 0; o < 3; ++o) a.stride[o][i] = loops[i].stride[o];
  }
  Tactic tactic = cpu_kernel_tactic(p, "select");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.select, a, p](Weights weights) -> CpuKernelRun {
    std::array<Tensor, 3> known;
    for (size_t o = 0; o < 3; ++o) {
      if (weights[o])
        known[o] = *weights[o];
      else if (p.inputs[o].value)
        known[o] = *p.inputs[o].value;
    }
    return [kernel, a, known](const Arguments& arguments) {
      const auto operand = [&](size_t o) -> const void* {
        return known[o].size() > 0 ? known[o].byte_span().data() : arguments.inputs[o];
      };
      SelectArguments call = a;
      call.condition = static_cast<const uint8_t*>(operand(0));
      call.a = operand(1);
      call.b = operand(2);
      call.out = arguments.outputs[0];
      kernel(call);
    };
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
