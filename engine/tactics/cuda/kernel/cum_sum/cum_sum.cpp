// Family cum_sum: running sums along one dimension of a linear tensor (cum_sum.cuh).
#include <cmath>

#include "engine/tactics/cuda/kernel/cum_sum/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct CumSumVariant {
  int group;  // threads that own one line: 1, or a block of 256
};

constexpr CumSumVariant kCumSumVariants[] = {{1}, {256}};

std::string id_of(const CumSumVariant& v) {
  return v.group == 1 ? "cum_sum/threads" : "cum_sum/blocks";
}

// The type of the sums of such elements; empty where kernels have none.
std::string sum_text(DataType type) {
  if (type == DataType::int32) return "unsigned";
  if (type == DataType::int64) return "unsigned long long";
  return storage_type_text(type).empty() ? "" : "float";
}

Result<gpu::CumSumArgs> cum_sum_args(const Problem& problem) {
  if (!std::holds_alternative<CumSum>(problem.op)) return refusal("no running sum");
  CHECK_OK(require_static(problem));
  const TensorDesc& axis = problem.inputs[1];
  if (!axis.value) return refusal("an axis that is not known");
  const TensorType& x = problem.inputs[0].type;
  if (problem.inputs[0].constant || problem.inputs[0].value || sum_text(x.type).empty() ||
      !problem.epilogue.empty() || volume(x.dims) == 0 || x.dims.empty())
    return refusal("sums of " + to_string(x) + ", or a fused chain");
  const auto at = static_cast<size_t>(wrapped(to_int64s(*axis.value)[0], x.dims.size()));
  gpu::CumSumArgs args{};
  args.size = static_cast<unsigned>(x.dims[at]);
  args.inner = static_cast<unsigned>(
      volume(Dims(x.dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, x.dims.end())));
  args.lines = static_cast<unsigned>(volume(x.dims) / x.dims[at]);
  return args;
}

double cum_sum_estimate_us(const gpu::CumSumArgs& args, const CumSumVariant& v,
                           const KernelContext& context, double bytes) {
  constexpr double kTurnUs = 0.05;
  const double waste = (args.inner == 1) == (v.group > 1) ? 1 : 8;
  const auto turns = static_cast<double>(divide_up(args.size, v.group));
  const double waves =
      std::ceil(static_cast<double>(args.lines) * v.group / (2048.0 * context.info.compute_units));
  return context.memory_us(waste * bytes) + kTurnUs * turns * waves * (v.group > 1 ? 4 : 1);
}

// Sums of what was rounded to a narrower type would be others: floats as they are.
Status offer_cum_sum(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  TRY(const auto args, cum_sum_args(problem));
  const double bytes = 2.0 * static_cast<double>(bytes_of(problem.inputs[0].type));
  for (const CumSumVariant& variant : kCumSumVariants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    // float32 holds every half, and is allowed wherever floats are.
    if (is_floating(problem.inputs[0].type.type))
      tactic.inputs[0] = tactic.outputs[0] = {DataType::float32, {}};
    tactic.estimated_us = cum_sum_estimate_us(args, variant, context, bytes);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_cum_sum(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  const CumSumVariant* variant = find_variant(kCumSumVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const auto args, cum_sum_args(problem));
  const auto& op = std::get<CumSum>(problem.op);
  const DataType type = tactic.inputs[0].type;
  const bool floats = is_floating(type);
  KernelPlan plan;
  plan.program.define("TX", element_type_text(type));
  plan.program.define("SUM", sum_text(type));
  plan.program.define("LOAD(p)", floats ? "load_one(p)" : "static_cast<SUM>(*(p))");
  plan.program.define("STORE(p, v)", floats ? "store_one(p, v)" : "(*(p) = static_cast<TX>(v))");
  plan.program.define("GROUP", variant->group);
  plan.program.define("EXCLUSIVE", op.exclusive);
  plan.program.define("REVERSE", op.reverse);
  plan.program.files = {"cum_sum/args.h", "cum_sum/cum_sum.cuh"};
  KernelLaunch launch = launch_of(args, static_cast<int64_t>(args.lines) * variant->group, 256);
  launch.slots = {{offsetof(gpu::CumSumArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::CumSumArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kCumSumFamily{"cum_sum", offer_cum_sum, plan_cum_sum};

}  // namespace enginery
