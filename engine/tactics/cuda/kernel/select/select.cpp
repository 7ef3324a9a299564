// Family select: Where (select.cuh).
#include <algorithm>

#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/select/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct SelectVariant {
  int threads;  // of a block, an element each
};

constexpr SelectVariant kSelectVariants[] = {{256}};

std::string id_of(const SelectVariant& v) {
  return id_by_threads("select/elements", v.threads, 256);
}

Status require_select(const Problem& problem) {
  if (!std::holds_alternative<Where>(problem.op)) return refusal("no choice");
  CHECK_OK(require_static(problem));
  const auto comes_at_run_time = [](const TensorDesc& d) { return !d.constant && !d.value; };
  if (std::none_of(problem.inputs.begin(), problem.inputs.end(), comes_at_run_time))
    return refusal("constants alone");
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  if (volume(output_dims(problem)) == 0) return refusal("no elements");
  return {};
}

Status offer_select(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  CHECK_OK(require_select(problem));
  for (const DataType type : kept_types(problem.outputs[0].type.type, context)) {
    for (const SelectVariant& variant : kSelectVariants) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[1] = tactic.inputs[2] = tactic.outputs[0] = {type, {}};
      tactic.compute = precision_of_storage(type);
      const int64_t bytes = volume(output_dims(problem)) * (2 * element_bytes(type) + 1);
      tactic.estimated_us = context.memory_us(static_cast<double>(bytes));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_select(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_select(problem));
  const SelectVariant* variant = find_variant(kSelectVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType type = tactic.outputs[0].type;
  KernelPlan plan;
  plan.program.define("UNIT", unit_text(element_bytes(type)));
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = place_beside_output(problem, 0, "condition_place") +
                           place_beside_output(problem, 1, "a_place") +
                           place_beside_output(problem, 2, "b_place");
  plan.program.files = {"select/args.h", "select/select.cuh"};
  gpu::SelectArgs args{};
  args.total = static_cast<unsigned>(volume(output_dims(problem)));
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  const DataType boolean = problem.inputs[0].type.type;
  launch.slots = {operand_slot(problem, 0, boolean, offsetof(gpu::SelectArgs, condition), plan),
                  operand_slot(problem, 1, type, offsetof(gpu::SelectArgs, a), plan),
                  operand_slot(problem, 2, type, offsetof(gpu::SelectArgs, b), plan),
                  {offsetof(gpu::SelectArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kSelectFamily{"select", offer_select, plan_select};

}  // namespace enginery
