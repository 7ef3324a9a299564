// Family lrn: local response normalisation across channels (lrn.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/lrn/args.h"

namespace enginery {
namespace {

struct LrnVariant {
  int threads;  // of a block, an element each
};

constexpr LrnVariant kLrnVariants[] = {{256}};

std::string id_of(const LrnVariant& v) {
  return id_by_threads("lrn/channels", v.threads, 256);
}

Status require_lrn(const Problem& problem) {
  if (!std::holds_alternative<Lrn>(problem.op)) return refusal("no local response normalisation");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  const TensorType& x = problem.inputs[0].type;
  if (!is_floating(x.type) || volume(x.dims) == 0) return refusal("no floats");
  if (x.dims.size() < 3 || x.dims[1] % 8) return refusal("channels that are no multiple of 8");
  return {};
}

Status offer_lrn(const Problem& problem, const KernelContext& context, std::vector<Tactic>& out) {
  CHECK_OK(require_lrn(problem));
  const Dims& dims = problem.inputs[0].type.dims;
  for (DataType type : context.storage_types()) {
    const double bytes = 2.0 * static_cast<double>(volume(dims) * element_bytes(type));
    for (const LrnVariant& variant : kLrnVariants) {
      Tactic tactic = make_kernel_tactic(problem, id_of(variant));
      tactic.inputs[0] = tactic.outputs[0] = channels_last_format(type, dims[1]);
      tactic.compute = precision_of_storage(type);
      tactic.estimated_us = 2 * context.memory_us(bytes);
      out.push_back(std::move(tactic));
    }
  }
  return {};
}

Result<KernelPlan> plan_lrn(const Problem& problem, const Tactic& tactic, const KernelContext&) {
  CHECK_OK(require_lrn(problem));
  const LrnVariant* variant = find_variant(kLrnVariants, tactic);
  if (!variant) return no_variant(tactic);
  const Lrn& op = std::get<Lrn>(problem.op);
  const Dims& dims = problem.inputs[0].type.dims;
  KernelPlan plan;
  define_types(plan.program, tactic.inputs[0].type, tactic.outputs[0].type);
  plan.program.define("THREADS", variant->threads);
  plan.program.files = {"lrn/args.h", "lrn/lrn.cuh"};
  gpu::LrnArgs args{};
  args.total = to_int(volume(dims));
  args.c = to_int(dims[1]);
  args.size = to_int(op.size);
  args.alpha = op.alpha;
  args.beta = op.beta;
  args.bias = op.bias;
  args.by_c = make_divisor(dims[1]);
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  launch.slots = {{offsetof(gpu::LrnArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::LrnArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kLrnFamily{"lrn", offer_lrn, plan_lrn};

}  // namespace enginery
