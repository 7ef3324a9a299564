// Family discrete: comparisons, logic and arithmetic of integers (discrete.cuh).
#include "engine/tactics/cuda/kernel/discrete/args.h"
#include "engine/tactics/cuda/kernel/families.h"
#include "engine/tactics/cuda/kernel/text/epilogue_text.h"

namespace enginery {
namespace {

struct DiscreteVariant {
  int threads;  // of a block, an element each
};

constexpr DiscreteVariant kDiscreteVariants[] = {{256}};

std::string id_of(const DiscreteVariant& v) {
  return id_by_threads("discrete/elements", v.threads, 256);
}

// Of p and q; empty for what kernels lack.
std::string binary_expression(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::add:
      return "p + q";
    case BinaryKind::sub:
      return "p - q";
    case BinaryKind::mul:
      return "p * q";
    case BinaryKind::min:
      return "(p < q ? p : q)";
    case BinaryKind::max:
      return "(p > q ? p : q)";
    case BinaryKind::bitwise_and:
      return "(p & q)";
    case BinaryKind::bitwise_or:
      return "(p | q)";
    case BinaryKind::bitwise_xor:
      return "(p ^ q)";
    case BinaryKind::div:
      return "quotient_of(p, q)";
    case BinaryKind::fmod:
      return "remainder_of(p, q)";
    case BinaryKind::mod:
      return "modulus_of(p, q)";
    case BinaryKind::logical_and:
      return "(p != 0 && q != 0)";
    case BinaryKind::logical_or:
      return "(p != 0 || q != 0)";
    case BinaryKind::logical_xor:
      return "((p != 0) != (q != 0))";
    case BinaryKind::equal:
      return "(p == q)";
    case BinaryKind::greater:
      return "(p > q)";
    case BinaryKind::greater_equal:
      return "(p >= q)";
    case BinaryKind::less:
      return "(p < q)";
    case BinaryKind::less_equal:
      return "(p <= q)";
    default:
      return {};
  }
}

std::string expression_of(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) return binary_expression(binary->kind);
  const auto* unary = std::get_if<Unary>(&op);
  if (!unary) return {};
  switch (unary->kind) {
    case UnaryKind::logical_not:
      return "(p == 0)";
    case UnaryKind::neg:
      return "-p";
    case UnaryKind::abs:
      return "(p < 0 ? -p : p)";
    case UnaryKind::sign:
      return "((p > 0) - (p < 0))";
    case UnaryKind::is_nan:
      return "(p != p)";
    case UnaryKind::is_inf:
      return "(p == p && p - p != p - p)";
    case UnaryKind::is_positive_inf:
      return "(p > 0 && p - p != p - p)";
    case UnaryKind::is_negative_inf:
      return "(p < 0 && p - p != p - p)";
    default:
      return {};
  }
}

Status require_discrete(const Problem& problem) {
  if (expression_of(problem.op).empty()) return refusal("no comparison, logic or integers");
  CHECK_OK(require_static(problem));
  CHECK_OK(require_run_time_data(problem));
  CHECK_OK(require_safe_division(problem));
  if (!problem.epilogue.empty()) return refusal("a fused chain");
  const TensorType& y = problem.outputs[0].type;
  if (is_floating(y.type) || volume(y.dims) == 0) return refusal("floats or no elements");
  for (const auto* descs : {&problem.inputs, &problem.outputs})
    for (const TensorDesc& desc : *descs)
      if (element_type_text(desc.type.type).empty())
        return refusal("elements of " + to_string(desc.type));
  return {};
}

Status offer_discrete(const Problem& problem, const KernelContext& context,
                      std::vector<Tactic>& out) {
  CHECK_OK(require_discrete(problem));
  // Floats as they are: rounded to a narrower type, some would compare as equal.
  for (const DiscreteVariant& variant : kDiscreteVariants) {
    Tactic tactic = make_kernel_tactic(problem, id_of(variant));
    int64_t bytes = bytes_of(problem.outputs[0].type);
    for (const TensorDesc& desc : problem.inputs) bytes += bytes_of(desc.type);
    tactic.estimated_us = context.memory_us(static_cast<double>(bytes));
    out.push_back(std::move(tactic));
  }
  return {};
}

Result<KernelPlan> plan_discrete(const Problem& problem, const Tactic& tactic,
                                 const KernelContext&) {
  CHECK_OK(require_discrete(problem));
  const DiscreteVariant* variant = find_variant(kDiscreteVariants, tactic);
  if (!variant) return no_variant(tactic);
  const bool has_q = problem.inputs.size() > 1;
  const DataType p = tactic.inputs[0].type, q = has_q ? tactic.inputs[1].type : p;
  KernelPlan plan;
  plan.program.define("TP", element_type_text(p));
  plan.program.define("TQ", element_type_text(q));
  plan.program.define("TY", element_type_text(problem.outputs[0].type.type));
  plan.program.define("HAS_Q", has_q);
  plan.program.define("EXPRESSION", expression_of(problem.op));
  plan.program.define("THREADS", variant->threads);
  plan.program.functions = place_beside_output(problem, 0, "p_place");
  if (has_q) plan.program.functions += place_beside_output(problem, 1, "q_place");
  plan.program.files = {"discrete/args.h", "discrete/discrete.cuh"};
  gpu::DiscreteArgs args{};
  args.total = static_cast<unsigned>(volume(output_dims(problem)));
  KernelLaunch launch = launch_of(args, args.total, static_cast<unsigned>(variant->threads));
  launch.slots = {operand_slot(problem, 0, p, offsetof(gpu::DiscreteArgs, p), plan),
                  {offsetof(gpu::DiscreteArgs, y), PointerSource::output, 0}};
  if (has_q)
    launch.slots.push_back(operand_slot(problem, 1, q, offsetof(gpu::DiscreteArgs, q), plan));
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

const KernelFamily kDiscreteFamily{"discrete", offer_discrete, plan_discrete};

}  // namespace enginery
