// Family arg_extreme: ArgMax and ArgMin along one dimension of a linear tensor (arg_extreme.cuh).
#include <cmath>

#include "engine/tactics/cuda/kernel/arg_extreme/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct ArgExtremeVariant {
  int group;  // threads that own one output: 1, a warp of 32, or a block of 256
};

constexpr ArgExtremeVariant kArgExtremeVariants[] = {{1}, {32}, {256}};

std::string id_of(const ArgExtremeVariant& v) {
  return v.group == 1    ? "arg_extreme/threads"
         : v.group == 32 ? "arg_extreme/warps"
                         : "arg_extreme/blocks";
}

// Integers that a float does not hold are compared as they are.
std::string integer_text(DataType type) {
  return type == DataType::int32 ? "int" : type == DataType::int64 ? "long long" : "";
}

Result<gpu::ArgExtremeArgs> arg_extreme_args(const Problem& problem) {
  const auto* op = std::get_if<ArgMinMax>(&problem.op);
  if (!op) return refusal("no place of an extreme");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  const TensorType& x = problem.inputs[0].type;
  const bool is_known = !storage_type_text(x.type).empty() || !integer_text(x.type).empty();
  if (!is_known || !problem.epilogue.empty() || volume(x.dims) == 0)
    return refusal("places in " + to_string(x) + ", or a fused chain");
  const auto axis = static_cast<size_t>(wrapped(op->axis, x.dims.size()));
  const int64_t inner =
      volume(Dims(x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end()));
  gpu::ArgExtremeArgs args{};
  args.size = static_cast<unsigned>(x.dims[axis]);
  args.inner = static_cast<unsigned>(inner);
  args.outputs = static_cast<unsigned>(volume(x.dims) / x.dims[axis]);
  return args;
}

// Threads of one output read side by side where there is nothing within the dimension, those of
// neighbouring outputs otherwise.
double arg_extreme_estimate_us(const gpu::ArgExtremeArgs& args, const ArgExtremeVariant& v,
                               const KernelContext& context, double bytes) {
  constexpr double kTurnUs = 0.01;
  const double waste = (args.inner == 1) == (v.group > 1) ? 1 : 8;
  const auto turns = static_cast<double>(divide_up(args.size, v.group));
  const double waves = std::ceil(static_cast<double>(args.outputs) * v.group /
                                 (2048.0 * context.info.compute_units));
  return context.memory_us(waste * bytes) + kTurnUs * turns * waves;
}

// Floats as they are: rounded to a narrower type, some would compare as equal.
Status offer_arg_extreme(const Problem& problem, const KernelContext& context,
                         std::vector<Tactic>& out) {
  TRY(const auto args, arg_extreme_args(problem));
  const auto bytes = static_cast<double>(bytes_of(problem.inputs[0].type));
  for (const ArgExtremeVariant& variant : kArgExtremeVariants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    tactic.estimated_us = arg_extreme_estimate_us(args, variant, context, bytes);
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_arg_extreme(const Problem& problem, const Tactic& tactic,
                                    const KernelContext&) {
  const ArgExtremeVariant* variant = find_variant(kArgExtremeVariants, tactic);
  if (!variant) return no_variant(tactic);
  TRY(const auto args, arg_extreme_args(problem));
  const auto& op = std::get<ArgMinMax>(problem.op);
  KernelPlan plan;
  const std::string integers = integer_text(tactic.inputs[0].type);
  plan.program.define("TX", integers.empty() ? storage_type_text(tactic.inputs[0].type) : integers);
  plan.program.define("TV", integers.empty() ? "float" : integers);
  plan.program.define("INTEGERS", !integers.empty());
  plan.program.define("GROUP", variant->group);
  plan.program.define("LARGEST", op.largest);
  plan.program.define("LAST", op.select_last);
  plan.program.files = {"arg_extreme/args.h", "arg_extreme/arg_extreme.cuh"};
  KernelLaunch launch = launch_of(args, static_cast<int64_t>(args.outputs) * variant->group, 256);
  launch.slots = {{offsetof(gpu::ArgExtremeArgs, x), PointerSource::input, 0},
                  {offsetof(gpu::ArgExtremeArgs, y), PointerSource::output, 0}};
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kArgExtremeFamily{"arg_extreme", offer_arg_extreme, plan_arg_extreme};

}  // namespace enginery
