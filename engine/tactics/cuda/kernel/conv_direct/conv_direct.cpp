// Family conv_direct: convolutions straight from their definition, for whatever the others refuse
// (conv_direct.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/conv_launch.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct DirectVariant {
  int threads;  // of a block
};

constexpr DirectVariant kDirectVariants[] = {{256}};

std::string id_of(const DirectVariant& v) {
  return id_by_threads("conv_direct/any", v.threads, 256);
}

Status offer_conv_direct(const Problem& problem, const KernelContext& context,
                         std::vector<Tactic>& out) {
  constexpr double kShare = 0.02, kStepUs = 0.05;  // of the peak; of one step of a thread's sum
  TRY(const ConvShape shape, conv_shape(problem));
  for (DataType type : context.storage_types()) {
    TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
    const double depth_us =
        kStepUs * static_cast<double>(shape.r * shape.s * shape.c / shape.groups);
    for (const DirectVariant& variant : kDirectVariants) {
      Tactic tactic = make_conv_tactic(problem, shape, epilogue, id_of(variant));
      tactic.estimated_us = std::max(context.memory_us(conv_bytes(shape, type)), depth_us) +
                            1e6 * shape.flops() / (kShare * context.info.float32_flops);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_conv_direct(const Problem& problem, const Tactic& tactic,
                                    const KernelContext&) {
  const DirectVariant* variant = find_variant(kDirectVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const ConvShape shape, conv_shape(problem));
  const DataType type = tactic.inputs[0].type;
  TRY(const LoweredEpilogue epilogue, lower_conv_epilogue(problem, shape, type));
  KernelPlan plan;
  define_types(plan.program, type, type);
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = epilogue_text(epilogue.code);
  plan.program.files = {"conv_direct/conv_direct.cuh"};
  add_untiled_launch(shape, 1, variant->threads, pack_for_lanes_of_k(shape), epilogue, plan);
  return plan;
}

}  // namespace

const KernelFamily kConvDirectFamily{"conv_direct", offer_conv_direct, plan_conv_direct};

}  // namespace enginery
