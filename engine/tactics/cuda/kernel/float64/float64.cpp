// Family float64: activations, unary and binary operators of float64 (float64.cuh).
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/float64/args.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"
#include "engine/tactics/shapes/float64_call.h"

namespace enginery {
namespace {

struct Float64Variant {
  int threads;  // of a block, an element each
};

constexpr Float64Variant kFloat64Variants[] = {{256}};

std::string id_of(const Float64Variant& v) {
  return id_by_threads("float64/elements", v.threads, 256);
}

std::string expression_of(Float64Function function) {
  switch (function) {
#define ENGINERY_CASE(name, expression) \
  case Float64Function::name:           \
    return #expression;
    ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_CASE, ENGINERY_CASE, ENGINERY_CASE)
#undef ENGINERY_CASE
  }
  return {};
}

Result<Float64Call> require_float64(const Problem& problem) {
  TRY(const Float64Call call, float64_call(problem));
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  if (volume(output_dims(problem)) == 0) return refusal("no elements");
  return call;
}

Status offer_float64(const Problem& problem, const KernelContext& context,
                     std::vector<Tactic>& out) {
  TRY(const Float64Call call, require_float64(problem));
  for (const Float64Variant& variant : kFloat64Variants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    const int64_t tensors = call.operands + 1;
    tactic.estimated_us =
        context.memory_us(static_cast<double>(tensors * bytes_of(problem.outputs[0].type)));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_float64(const Problem& problem, const Tactic& tactic,
                                const KernelContext&) {
  TRY(const Float64Call call, require_float64(problem));
  const Float64Variant* variant = find_variant(kFloat64Variants, tactic);
  if (!variant) return no_variant(tactic);
  const bool has_b = call.operands > 1;
  KernelPlan plan;
  plan.program.define("HAS_B", has_b);
  plan.program.define("EXPRESSION", expression_of(call.function));
  plan.program.define("ALPHA", literal_text(call.alpha));
  plan.program.define("BETA", literal_text(call.beta));
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = place_beside_output(problem, 0, "a_place");
  if (has_b) plan.program.functions += place_beside_output(problem, 1, "b_place");
  plan.program.files = {"float64/args.h", "float64/float64.cuh"};
  gpu::Float64Args args{};
  args.total = static_cast<unsigned>(volume(output_dims(problem)));
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  const DataType type = DataType::float64;
  launch.slots = {operand_slot(problem, 0, type, offsetof(gpu::Float64Args, a), plan),
                  {offsetof(gpu::Float64Args, out), PointerSource::output, 0}};
  if (has_b)
    launch.slots.push_back(operand_slot(problem, 1, type, offsetof(gpu::Float64Args, b), plan));
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kFloat64Family{"float64", offer_float64, plan_float64};

}  // namespace enginery
