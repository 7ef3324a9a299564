// Family gemv: fully connected layers of few rows, whose time is that of reading the weights once.
#include "engine/kernels/cpu/isa/products/gemv.h"

#include "engine/tactics/cpu/kernel/cpu_kernel_family.h"
#include "engine/tactics/shapes/fully_connected.h"

namespace enginery {
namespace {

std::function<CpuKernelRun(Weights)> prepare_of(const CpuKernelContext& context,
                                                const GemvArguments& a, const FullyConnected& fc) {
  return [kernel = context.kernels.gemv, a, fc](Weights weights) -> CpuKernelRun {
    const Tensor wide = weights_by_output(fc, weights);
    const Tensor w = a.narrow ? convert(wide, DataType::bfloat16) : wide;
    const Tensor bias = fc.addend >= 0 ? addend_of(fc, weights) : Tensor();
    return [=](const Arguments& arguments) {
      GemvArguments call = a;
      call.x = static_cast<const float*>(arguments.inputs[0]);
      call.y = static_cast<float*>(arguments.outputs[0]);
      call.w = w.raw();
      call.bias = fc.addend >= 0 ? bias.data<float>().data() : nullptr;
      kernel(call);
    };
  };
}

}  // namespace

// Its id is older than the name gemv, and is kept in engine files.
CpuKernelCandidates offer_cpu_gemv(const CpuKernelContext& context, const Problem& p) {
  auto fc = read_fully_connected(p);
  if (!fc || fc->m > kMaxGemvRows)
    return no_cpu_kernel("a matrix product other than a fully connected layer of few rows");
  auto bounds = read_bounds(p, fc->addend >= 0 ? BiasAllowed::no : BiasAllowed::yes);
  if (!bounds) return no_cpu_kernel("a fully connected layer with more than bias and clip");
  if (bounds->bias >= 0) {
    fc->addend = bounds->bias;
    fc->addend_factor = 1;
  }
  GemvArguments a{};
  a.m = fc->m;
  a.n = fc->n;
  a.k = fc->k;
  a.low = bounds->low;
  a.high = bounds->high;
  Tactic tactic = cpu_kernel_tactic(p, "few_rows");
  tactic.estimated_us = movement_and_arithmetic_us(context, p, 2000);
  std::vector<CpuKernelCandidate> out{{tactic, prepare_of(context, a, *fc)}};
  if (context.tiles) {  // half as many bytes of weights
    a.narrow = true;
    tactic.id += "_bf16";
    tactic.compute = Precision::bf16;
    tactic.estimated_us *= kNarrowShare;
    out.push_back({std::move(tactic), prepare_of(context, a, *fc)});
  }
  return out;
}

}  // namespace enginery
