// Families softmax and lrn: functions of rows of elements (softmax.cuh, lrn.cuh).
#include "engine/tactics/cuda/kernel/kernel_family.h"

namespace enginery {
namespace {

Status require_plain(const Problem& problem) {
  CHECK_OK(require_static(problem));
  if (!problem.epilogue.empty()) return no_kernel("a fused chain");
  if (!is_floating(problem.inputs[0].type.type) || volume(problem.inputs[0].type.dims) == 0)
    return no_kernel("no floats");
  return {};
}

// The problem's elements as [outer][size][inner] in a layout; nullopt where the layout does not
// serve.
std::optional<gpu::RowsArgs> softmax_rows(const Problem& problem, LayoutKind layout) {
  const Dims& dims = problem.inputs[0].type.dims;
  if (dims.empty()) return {};
  auto axis = static_cast<size_t>(wrapped(std::get<Softmax>(problem.op).axis, dims.size()));
  gpu::RowsArgs args{};
  args.size = static_cast<int>(dims[axis]);
  int64_t outer = 1, inner = 1;
  if (layout == LayoutKind::channels_last) {
    if (dims.size() < 3 || axis != 1 || dims[1] % 8) return {};
    outer = volume(dims) / dims[1];
  } else {
    for (size_t d = 0; d < axis; ++d) outer *= dims[d];
    for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  }
  args.outer = static_cast<int>(outer), args.inner = static_cast<int>(inner);
  return args;
}

std::vector<PointerSlot> slots_of(size_t x, size_t y) {
  return {{x, PointerSource::input, 0}, {y, PointerSource::output, 0}};
}

double bytes_of_problem(const Problem& problem, DataType type) {
  return 2.0 * static_cast<double>(volume(problem.inputs[0].type.dims) * element_bytes(type));
}

}  // namespace

Status offer_softmax(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  if (!std::holds_alternative<Softmax>(problem.op)) return no_kernel("no softmax");
  CHECK_OK(require_plain(problem));
  for (DataType type : context.storage_types()) {
    for (LayoutKind layout : {LayoutKind::linear, LayoutKind::channels_last}) {
      auto rows = softmax_rows(problem, layout);
      if (!rows) continue;
      Tactic tactic = make_kernel_tactic(problem, "softmax/rows");
      tactic.inputs[0] = tactic.outputs[0] = {type, {layout, 0}};
      tactic.compute = precision_of_storage(type);
      double rounds = static_cast<double>(rows->size) * (rows->inner == 1 ? 1.0 / 128 : 1.0);
      tactic.estimated_us = context.memory_us(bytes_of_problem(problem, type)) + 1 + 0.02 * rounds;
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_softmax(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  CHECK_OK(require_plain(problem));
  auto args = softmax_rows(problem, tactic.inputs[0].layout.kind);
  if (tactic.id != "softmax/rows" || !args) return no_variant(tactic);
  KernelPlan plan;
  define_types(plan.program, tactic.inputs[0].type, tactic.outputs[0].type);
  plan.program.define("INNER", args->inner == 1 ? 1 : 0);
  plan.program.define("LOGARITHM", std::get<Softmax>(problem.op).log);
  plan.program.files = {"softmax.cuh"};
  KernelLaunch launch;
  int64_t rows = static_cast<int64_t>(args->outer) * args->inner;
  launch.grid = grid_for(rows, args->inner == 1 ? 1 : 128);
  launch.arguments = argument_bytes(*args);
  launch.slots = slots_of(offsetof(gpu::RowsArgs, x), offsetof(gpu::RowsArgs, y));
  plan.launches.push_back(std::move(launch));
  return plan;
}

Status offer_lrn(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  if (!std::holds_alternative<Lrn>(problem.op)) return no_kernel("no local response normalisation");
  CHECK_OK(require_plain(problem));
  const Dims& dims = problem.inputs[0].type.dims;
  if (dims.size() < 3 || dims[1] % 8) return no_kernel("channels that are no multiple of 8");
  for (DataType type : context.storage_types()) {
    Tactic tactic = make_kernel_tactic(problem, "lrn/channels");
    tactic.inputs[0] = tactic.outputs[0] = channels_last_format(type, dims[1]);
    tactic.compute = precision_of_storage(type);
    tactic.estimated_us = 2 * context.memory_us(bytes_of_problem(problem, type));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_lrn(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_plain(problem));
  if (tactic.id != "lrn/channels") return no_variant(tactic);
  const Lrn& op = std::get<Lrn>(problem.op);
  const Dims& dims = problem.inputs[0].type.dims;
  KernelPlan plan;
  define_types(plan.program, tactic.inputs[0].type, tactic.outputs[0].type);
  plan.program.files = {"lrn.cuh"};
  gpu::LrnArgs args{};
  args.total = static_cast<int>(volume(dims)), args.c = static_cast<int>(dims[1]),
  args.size = static_cast<int>(op.size);
  args.alpha = op.alpha, args.beta = op.beta, args.bias = op.bias;
  args.by_c = make_divisor(dims[1]);
  KernelLaunch launch;
  launch.grid = grid_for(args.total, 256);
  launch.threads = 256;
  launch.arguments = argument_bytes(args);
  launch.slots = slots_of(offsetof(gpu::LrnArgs, x), offsetof(gpu::LrnArgs, y));
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace enginery
