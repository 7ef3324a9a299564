// Family discrete: comparisons of linear tensors of any type, logic, and arithmetic of integers,
// with operands that repeat as broadcasting allows.
#include "engine/kernels/cpu/isa/discrete.h"

#include "engine/tactics/cpu/kernel/broadcast.h"

namespace enginery {
namespace {

// What is computed of operands a and b: problem inputs, or zero.
struct DiscreteCall {
  DiscreteFunction function;
  std::array<int, 2> operand{0, 1};  // kZero: a zero of the other operand's type
};
constexpr int kZero = -1;

std::optional<DiscreteCall> call_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::equal:
      return DiscreteCall{DiscreteFunction::equal};
    case BinaryKind::less:
      return DiscreteCall{DiscreteFunction::less};
    case BinaryKind::less_equal:
      return DiscreteCall{DiscreteFunction::less_equal};
    case BinaryKind::greater:
      return DiscreteCall{DiscreteFunction::less, {1, 0}};
    case BinaryKind::greater_equal:
      return DiscreteCall{DiscreteFunction::less_equal, {1, 0}};
    case BinaryKind::logical_and:
      return DiscreteCall{DiscreteFunction::logical_and};
    case BinaryKind::logical_or:
      return DiscreteCall{DiscreteFunction::logical_or};
    case BinaryKind::logical_xor:
      return DiscreteCall{DiscreteFunction::logical_xor};
    case BinaryKind::add:
      return DiscreteCall{DiscreteFunction::add};
    case BinaryKind::sub:
      return DiscreteCall{DiscreteFunction::sub};
    case BinaryKind::mul:
      return DiscreteCall{DiscreteFunction::mul};
    case BinaryKind::min:
      return DiscreteCall{DiscreteFunction::min};
    case BinaryKind::max:
      return DiscreteCall{DiscreteFunction::max};
    case BinaryKind::bitwise_and:
      return DiscreteCall{DiscreteFunction::bitwise_and};
    case BinaryKind::bitwise_or:
      return DiscreteCall{DiscreteFunction::bitwise_or};
    case BinaryKind::bitwise_xor:
      return DiscreteCall{DiscreteFunction::bitwise_xor};
    case BinaryKind::div:
      return DiscreteCall{DiscreteFunction::quotient};
    case BinaryKind::fmod:
      return DiscreteCall{DiscreteFunction::remainder};
    case BinaryKind::mod:
      return DiscreteCall{DiscreteFunction::modulus};
    default:  // powers and shifts are rare
      return std::nullopt;
  }
}

std::optional<DiscreteCall> call_of(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) return call_of(binary->kind);
  const auto* unary = std::get_if<Unary>(&op);
  if (!unary) return std::nullopt;
  switch (unary->kind) {
    case UnaryKind::logical_not:
      return DiscreteCall{DiscreteFunction::equal, {0, kZero}};
    case UnaryKind::neg:
      return DiscreteCall{DiscreteFunction::sub, {kZero, 0}};
    case UnaryKind::abs:
      return DiscreteCall{DiscreteFunction::distance, {0, kZero}};
    case UnaryKind::sign:
      return DiscreteCall{DiscreteFunction::comparison, {0, kZero}};
    case UnaryKind::is_nan:
      return DiscreteCall{DiscreteFunction::not_equal, {0, 0}};
    case UnaryKind::is_inf:
      return DiscreteCall{DiscreteFunction::infinite, {0, 0}};
    case UnaryKind::is_positive_inf:
      return DiscreteCall{DiscreteFunction::positive_infinite, {0, 0}};
    case UnaryKind::is_negative_inf:
      return DiscreteCall{DiscreteFunction::negative_infinite, {0, 0}};
    default:
      return std::nullopt;
  }
}

std::optional<DiscreteType> discrete_type(DataType type) {
  switch (type) {
    case DataType::float32:
      return DiscreteType::float32;
    case DataType::float64:
      return DiscreteType::float64;
    case DataType::int8:
      return DiscreteType::int8;
    case DataType::uint8:
    case DataType::boolean:
      return DiscreteType::uint8;
    case DataType::int16:
      return DiscreteType::int16;
    case DataType::uint16:
      return DiscreteType::uint16;
    case DataType::int32:
      return DiscreteType::int32;
    case DataType::uint32:
      return DiscreteType::uint32;
    case DataType::int64:
      return DiscreteType::int64;
    case DataType::uint64:
      return DiscreteType::uint64;
    default:
      return std::nullopt;
  }
}

Result<BroadcastLoops> loops_of(const Problem& p, const DiscreteCall& call) {
  const Dims& out = output_dims(p);
  std::vector<Dims> strides;
  for (const int input : call.operand)
    strides.push_back(
        input == kZero ? Dims(out.size(), 0)
                       : repeating_strides(input_dims(p, static_cast<size_t>(input)), out.size()));
  return broadcast_loops(out, strides);
}

CpuKernelRun run_discrete(void (*kernel)(const DiscreteArguments&), const DiscreteArguments& fixed,
                          const DiscreteCall& call, const LaunchInputs& inputs) {
  return [=](const Arguments& arguments) {
    static constexpr int64_t kNothing = 0;
    const auto operand = [&](int input) -> const void* {
      return input == kZero ? &kNothing : inputs.address(static_cast<size_t>(input), arguments);
    };
    DiscreteArguments a = fixed;
    a.a = operand(call.operand[0]);
    a.b = operand(call.operand[1]);
    a.out = arguments.outputs[0];
    kernel(a);
  };
}

}  // namespace

CpuKernelCandidates offer_cpu_discrete(const CpuKernelContext& context, const Problem& p) {
  const auto call = call_of(p.op);
  const auto type = discrete_type(p.inputs[0].type.type);
  if (!call || !type || !p.epilogue.empty())
    return no_cpu_kernel("this step on " + to_string(p.inputs[0].type));
  CHECK_OK(require_safe_division(p));
  DiscreteArguments a{};
  a.function = call->function;
  a.type = *type;
  TRY(a.over, loops_of(p, *call));
  Tactic tactic = cpu_kernel_tactic(p, "discrete");
  tactic.estimated_us = movement_us(context, p);
  auto prepare = [kernel = context.kernels.discrete, a, call = *call, p](Weights weights) {
    return run_discrete(kernel, a, call, LaunchInputs(p, weights));
  };
  return std::vector<CpuKernelCandidate>{{std::move(tactic), std::move(prepare)}};
}

}  // namespace enginery
