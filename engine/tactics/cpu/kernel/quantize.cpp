// Family quantize: float32 to 8- and 16-bit integers and back, by constant scales.
#include "engine/kernels/cpu/isa/quantize.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/quantized_rows.h"

namespace enginery {
namespace {

std::optional<SmallInteger> small_integer(DataType type) {
  switch (type) {
    case DataType::int8:
      return SmallInteger::int8;
    case DataType::uint8:
      return SmallInteger::uint8;
    case DataType::int16:
      return SmallInteger::int16;
    case DataType::uint16:
      return SmallInteger::uint16;
    default:
      return {};
  }
}

}  // namespace

CpuKernelCandidates offer_cpu_quantize(const CpuKernelContext& context, const Problem& p) {
  TRY(const QuantizedRows rows, quantized_rows(p));
  const auto integers = small_integer(rows.integers);
  if (!integers) return no_cpu_kernel("quantisation of " + std::string(to_string(rows.integers)));
  QuantizeArguments a{};
  a.outer = rows.outer;
  a.size = rows.size;
  a.inner = rows.inner;
  a.integers = *integers;
  a.to_integers = rows.to_integers;
  const auto prepare = [kernel = context.kernels.quantize, a, p,
                        rows](Weights weights) -> CpuKernelRun {
    const auto factors =
        std::make_shared<const QuantizedFactors>(quantized_factors(p, rows, weights));
    return [kernel, a, factors](const Arguments& arguments) {
      QuantizeArguments call = a;
      call.in = arguments.inputs[0];
      call.out = arguments.outputs[0];
      call.scale = factors->scale.data();
      call.zero = factors->zero.data();
      kernel(call);
    };
  };
  // One scale for all: the order in which the elements lie is no matter.
  std::vector<Layout> layouts = {Layout()};
  if (rows.size == 1) layouts = unblocked_layouts(input_dims(p, 0));
  std::vector<CpuKernelCandidate> out;
  for (const Layout& layout : layouts) {
    Tactic tactic = cpu_kernel_tactic(p, "quantize");
    tactic.inputs[0].layout = tactic.outputs[0].layout = layout;
    tactic.estimated_us = movement_us(context, p);
    out.push_back({std::move(tactic), prepare});
  }
  return out;
}

}  // namespace enginery
