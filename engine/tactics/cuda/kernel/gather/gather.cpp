// Family gather: slices of a tensor by index (gather.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/gather/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct GatherVariant {
  int threads;  // of a block, a unit each
};

constexpr GatherVariant kGatherVariants[] = {{256}};

std::string id_of(const GatherVariant& v) {
  return id_by_threads("gather/slices", v.threads, 256);
}

Status require_gather(const Problem& problem) {
  if (!std::holds_alternative<Gather>(problem.op)) return refusal("no gather");
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  const DataType indices = problem.inputs[1].type.type;
  if (indices != DataType::int32 && indices != DataType::int64)
    return refusal("indices that are no integers");
  if (problem.inputs[0].value || problem.inputs[0].type.dims.empty() ||
      volume(problem.inputs[0].type.dims) == 0)
    return refusal("no elements");
  if (volume(problem.outputs[0].type.dims) == 0) return refusal("no elements");
  return {};
}

Status offer_gather(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  CHECK_OK(require_gather(problem));
  const int64_t elements = volume(problem.outputs[0].type.dims);
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    for (const GatherVariant& variant : kGatherVariants) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = tactic.outputs[0] = {type, {}};
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us =
          context.memory_us(2.0 * static_cast<double>(elements * element_bytes(type)));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_gather(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_gather(problem));
  const GatherVariant* variant = find_variant(kGatherVariants, tactic);
  if (!variant) return no_variant(tactic);
  const DataType type = tactic.outputs[0].type, index_type = problem.inputs[1].type.type;
  const Dims& data = problem.inputs[0].type.dims;
  const auto axis = static_cast<size_t>(wrapped(std::get<Gather>(problem.op).axis, data.size()));
  int64_t inner = 1;
  for (size_t d = axis + 1; d < data.size(); ++d) inner *= data[d];
  const int64_t row_bytes = inner * element_bytes(type);
  const int64_t unit = row_bytes % 16 == 0 ? 16 : element_bytes(type);  // bytes that a thread moves
  KernelPlan plan;
  plan.program.define("UNIT", unit_text(unit));
  plan.program.define("INDEX", element_type_text(index_type));
  plan.program.define("THREADS", variant->threads);
  plan.program.files = {"gather/args.h", "gather/gather.cuh"};
  gpu::GatherArgs args{};
  args.total = to_int(volume(problem.outputs[0].type.dims) * element_bytes(type) / unit);
  args.size = to_int(data[axis]);
  args.by_inner = make_divisor(row_bytes / unit);
  args.by_count = make_divisor(volume(problem.inputs[1].type.dims));
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  launch.slots = {operand_slot(problem, 0, type, offsetof(gpu::GatherArgs, data), plan),
                  operand_slot(problem, 1, index_type, offsetof(gpu::GatherArgs, indices), plan),
                  {offsetof(gpu::GatherArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kGatherFamily{"gather", offer_gather, plan_gather};

}  // namespace enginery
