// Family softmax: softmax and log-softmax along one axis (softmax.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/softmax/args.h"

namespace enginery {
namespace {

struct SoftmaxVariant {
  int threads;  // of a block; of a row of elements side by side, or a column each
};

constexpr SoftmaxVariant kSoftmaxVariants[] = {{128}};

std::string id_of(const SoftmaxVariant& v) {
  return id_by_threads("softmax/rows", v.threads, 128);
}

Status require_softmax(const Problem& problem) {
  if (!std::holds_alternative<Softmax>(problem.op)) return refusal("no softmax");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  if (!is_floating(problem.inputs[0].type.type) || volume(problem.inputs[0].type.dims) == 0)
    return refusal("no floats");
  return {};
}

// The problem's elements as [outer][size][inner] in a layout; nullopt where the layout does not
// serve.
std::optional<gpu::SoftmaxArgs> softmax_rows(const Problem& problem, LayoutKind layout) {
  const Dims& dims = problem.inputs[0].type.dims;
  if (dims.empty()) return {};
  const auto axis = static_cast<size_t>(wrapped(std::get<Softmax>(problem.op).axis, dims.size()));
  int64_t outer = 1, inner = 1;
  if (layout == LayoutKind::channels_last) {
    if (dims.size() < 3 || axis != 1 || dims[1] % 8) return {};
    outer = volume(dims) / dims[1];
  } else {
    for (size_t d = 0; d < axis; ++d) outer *= dims[d];
    for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  }
  gpu::SoftmaxArgs args{};
  args.outer = to_int(outer);
  args.size = to_int(dims[axis]);
  args.inner = to_int(inner);
  return args;
}

double softmax_estimate_us(const Problem& problem, const gpu::SoftmaxArgs& rows,
                           const SoftmaxVariant& v, DataType type, const KernelContext& context) {
  const double bytes =
      2.0 * static_cast<double>(volume(problem.inputs[0].type.dims) * element_bytes(type));
  const double turns = static_cast<double>(rows.size) * (rows.inner == 1 ? 1.0 / v.threads : 1.0);
  return context.memory_us(bytes) + 1 + 0.02 * turns;
}

Status offer_softmax(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  CHECK_OK(require_softmax(problem));
  for (DataType type : context.storage_types()) {
    for (LayoutKind layout : {LayoutKind::linear, LayoutKind::channels_last}) {
      const auto rows = softmax_rows(problem, layout);
      if (!rows) continue;
      for (const SoftmaxVariant& variant : kSoftmaxVariants) {
        Tactic tactic = make_kernel_tactic(problem, id_of(variant));
        tactic.inputs[0] = tactic.outputs[0] = {type, {layout, 0}};
        tactic.compute = precision_of_storage(type);
        tactic.estimated_us = softmax_estimate_us(problem, *rows, variant, type, context);
        out.push_back(std::move(tactic));
      }
    }
  }
  return {};
}

Result<KernelPlan> plan_softmax(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  CHECK_OK(require_softmax(problem));
  const SoftmaxVariant* variant = find_variant(kSoftmaxVariants, tactic);
  const auto args = softmax_rows(problem, tactic.inputs[0].layout.kind);
  if (!variant || !args) return no_variant(tactic);
  const bool rows_side_by_side = args->inner == 1;
  KernelPlan plan;
  define_types(plan.program, tactic.inputs[0].type, tactic.outputs[0].type);
  plan.program.define("THREADS", variant->threads);
  plan.program.define("INNER", rows_side_by_side ? 1 : 0);
  plan.program.define("LOGARITHM", std::get<Softmax>(problem.op).log);
  plan.program.files = {"softmax/args.h", "softmax/softmax.cuh"};
  const auto threads = static_cast<unsigned>(variant->threads);
  const int64_t rows = static_cast<int64_t>(args->outer) * args->inner;
  KernelLaunch launch = launch_of(*args, rows, threads);
  if (rows_side_by_side) launch.grid = grid_for(rows, 1);
  launch.slots = {{offsetof(gpu::SoftmaxArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::SoftmaxArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kSoftmaxFamily{"softmax", offer_softmax, plan_softmax};

}  // namespace enginery
