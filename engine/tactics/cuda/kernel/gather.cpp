// Families gather and cast: elements by index, and elements in another type (gather.cuh, cast.cuh).
#include "engine/kernels/cuda/epilogue.h"
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {
namespace {

// Empty for types that kernels do not have.
std::string element_text(DataType type) {
  switch (type) {
    case DataType::int8:
      return "signed char";
    case DataType::uint8:
    case DataType::boolean:
      return "unsigned char";
    case DataType::int32:
      return "int";
    case DataType::int64:
      return "long long";
    default:
      return storage_type_text(type);
  }
}

Status require_gather(const Problem& problem) {
  if (!std::holds_alternative<Gather>(problem.op)) return no_kernel("no gather");
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return no_kernel("a fused chain");
  const DataType indices = problem.inputs[1].type.type;
  if (indices != DataType::int32 && indices != DataType::int64)
    return no_kernel("indices that are no integers");
  if (problem.inputs[0].value || problem.inputs[0].type.dims.empty() ||
      volume(problem.inputs[0].type.dims) == 0)
    return no_kernel("no elements");
  if (volume(problem.outputs[0].type.dims) == 0) return no_kernel("no elements");
  return {};
}

Status require_cast(const Problem& problem) {
  const auto* op = std::get_if<Cast>(&problem.op);
  if (!op) return no_kernel("no cast");
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty() || problem.inputs[0].constant || problem.inputs[0].value)
    return no_kernel("a fused chain or a constant");
  if (element_text(op->to).empty() || element_text(problem.inputs[0].type.type).empty())
    return no_kernel("a type that kernels do not have");
  return volume(problem.outputs[0].type.dims) > 0 ? Status() : Status(no_kernel("no elements"));
}

}  // namespace

Status offer_gather(const Problem& problem, const KernelContext& context,
                    std::vector<Tactic>& out) {
  CHECK_OK(require_gather(problem));
  for (DataType type : kept_types(problem.inputs[0].type.type, context)) {
    Tactic tactic = make_kernel_tactic(problem, "gather/slices");
    tactic.inputs[0] = tactic.outputs[0] = {type, {}};
    tactic.compute = precision_of_storage(type);
    tactic.estimated_us = context.memory_us(
        2.0 * static_cast<double>(volume(problem.outputs[0].type.dims) * element_bytes(type)));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_gather(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_gather(problem));
  if (tactic.id != "gather/slices") return no_variant(tactic);
  const DataType type = tactic.outputs[0].type;
  const Dims& data = problem.inputs[0].type.dims;
  const auto axis = static_cast<size_t>(wrapped(std::get<Gather>(problem.op).axis, data.size()));
  int64_t inner = 1;
  for (size_t d = axis + 1; d < data.size(); ++d) inner *= data[d];
  const int64_t row_bytes = inner * element_bytes(type),
                unit = row_bytes % 16 == 0 ? 16 : element_bytes(type);
  KernelPlan plan;
  plan.program.define("UNIT", unit_text(unit));
  plan.program.define("INDEX", element_text(problem.inputs[1].type.type));
  plan.program.files = {"gather.cuh"};
  gpu::GatherArgs args{};
  args.total = static_cast<int>(volume(problem.outputs[0].type.dims) * element_bytes(type) / unit);
  args.size = static_cast<int>(data[axis]);
  args.by_inner = make_divisor(row_bytes / unit);
  args.by_count = make_divisor(volume(problem.inputs[1].type.dims));
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = {operand_slot(problem, 0, type, offsetof(gpu::GatherArgs, data), plan),
                  operand_slot(problem, 1, problem.inputs[1].type.type,
                               offsetof(gpu::GatherArgs, indices), plan),
                  {offsetof(gpu::GatherArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

Status offer_cast(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_cast(problem));
  for (DataType from : kept_types(problem.inputs[0].type.type, context)) {
    for (DataType to : kept_types(problem.outputs[0].type.type, context)) {
      Tactic tactic = make_kernel_tactic(problem, "cast/flat");
      tactic.inputs[0] = {from, {}}, tactic.outputs[0] = {to, {}};
      tactic.compute =
          from == DataType::float16 || to == DataType::float16 ? Precision::fp16 : Precision::fp32;
      tactic.estimated_us = context.memory_us(static_cast<double>(
          volume(problem.outputs[0].type.dims) * (element_bytes(from) + element_bytes(to))));
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_cast(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_cast(problem));
  if (tactic.id != "cast/flat") return no_variant(tactic);
  KernelPlan plan;
  plan.program.define("TX", element_text(tactic.inputs[0].type));
  plan.program.define("TY", element_text(tactic.outputs[0].type));
  plan.program.define("TO_BOOLEAN", tactic.outputs[0].type == DataType::boolean);
  plan.program.files = {"cast.cuh"};
  gpu::CastArgs args{};
  args.total = static_cast<int>(volume(problem.outputs[0].type.dims));
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = {{offsetof(gpu::CastArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::CastArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
