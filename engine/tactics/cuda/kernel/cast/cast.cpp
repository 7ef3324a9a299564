// Family cast: elements in another type (cast.cuh).
#include "engine/tactics/cuda/kernel/cast/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct CastVariant {
  int threads;  // of a block, an element each
};

constexpr CastVariant kCastVariants[] = {{256}};

std::string id_of(const CastVariant& v) {
  return id_by_threads("cast/flat", v.threads, 256);
}

Status require_cast(const Problem& problem) {
  const auto* op = std::get_if<Cast>(&problem.op);
  if (!op) return refusal("no cast");
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty() || problem.inputs[0].constant || problem.inputs[0].value)
    return refusal("a fused chain or a constant");
  if (element_type_text(op->to).empty() || element_type_text(problem.inputs[0].type.type).empty())
    return refusal("a type that kernels do not have");
  return volume(problem.outputs[0].type.dims) > 0 ? Status() : Status(refusal("no elements"));
}

Status offer_cast(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_cast(problem));
  const int64_t elements = volume(problem.outputs[0].type.dims);
  for (DataType from : kept_types(problem.inputs[0].type.type, context)) {
    for (DataType to : kept_types(problem.outputs[0].type.type, context)) {
      for (const CastVariant& variant : kCastVariants) {
        Tactic tactic = make_kernel_tactic(problem, id_of(variant));
        tactic.inputs[0] = {from, {}};
        tactic.outputs[0] = {to, {}};
        tactic.compute = precision_of_storage(from, to);
        tactic.estimated_us = context.memory_us(
            static_cast<double>(elements * (element_bytes(from) + element_bytes(to))));
        out.push_back(std::move(tactic));
      }
    }
  }
  return {};
}

Result<KernelPlan> plan_cast(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_cast(problem));
  const CastVariant* variant = find_variant(kCastVariants, tactic);
  if (!variant) return no_variant(tactic);
  KernelPlan plan;
  plan.program.define("TX", element_type_text(tactic.inputs[0].type));
  plan.program.define("TY", element_type_text(tactic.outputs[0].type));
  plan.program.define("TO_BOOLEAN", tactic.outputs[0].type == DataType::boolean);
  plan.program.define("TO_INTEGER", is_integer(tactic.outputs[0].type));
  plan.program.define("THREADS", variant->threads);
  plan.program.files = {"cast/args.h", "cast/cast.cuh"};
  gpu::CastArgs args{};
  args.total = to_int(volume(problem.outputs[0].type.dims));
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  launch.slots = {{offsetof(gpu::CastArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::CastArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kCastFamily{"cast", offer_cast, plan_cast};

}  // namespace enginery
