#include "engine/tactics/shapes/float64_call.h"

namespace enginery {
namespace {

std::optional<Float64Call> float64_call_of(const Activation& op) {
  switch (op.kind) {
#define ENGINERY_CASE(name, expression) \
  case ActivationKind::name:            \
    return Float64Call{Float64Function::name, op.alpha, op.beta};
    ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_CASE, ENGINERY_NO_FUNCTION, ENGINERY_NO_FUNCTION)
#undef ENGINERY_CASE
    default:
      return std::nullopt;
  }
}

std::optional<Float64Call> float64_call_of(const Unary& op) {
  switch (op.kind) {
#define ENGINERY_CASE(name, expression) \
  case UnaryKind::name:                 \
    return Float64Call{Float64Function::name};
    ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_NO_FUNCTION, ENGINERY_CASE, ENGINERY_NO_FUNCTION)
#undef ENGINERY_CASE
    default:
      return std::nullopt;
  }
}

std::optional<Float64Call> float64_call_of(const Binary& op) {
  switch (op.kind) {
#define ENGINERY_CASE(name, expression) \
  case BinaryKind::name:                \
    return Float64Call{Float64Function::name, 0, 0, 2};
    ENGINERY_FLOAT64_FUNCTIONS(ENGINERY_NO_FUNCTION, ENGINERY_NO_FUNCTION, ENGINERY_CASE)
#undef ENGINERY_CASE
    default:
      return std::nullopt;
  }
}

std::optional<Float64Call> float64_call_of(const Op& op) {
  if (const auto* activation = std::get_if<Activation>(&op)) return float64_call_of(*activation);
  if (const auto* unary = std::get_if<Unary>(&op)) return float64_call_of(*unary);
  if (const auto* binary = std::get_if<Binary>(&op)) return float64_call_of(*binary);
  return std::nullopt;
}

}  // namespace

bool is_float64_elementwise(const Problem& p) {
  return !is_region(p) && is_one_of<Activation, Unary, Binary>(p) &&
         p.outputs[0].type.type == DataType::float64;
}

Result<Float64Call> float64_call(const Problem& p) {
  const auto unsupported = [](const char* what) {
    return Error{ErrorCode::unsupported, std::string(what) + " of float64"};
  };
  if (!is_float64_elementwise(p)) return unsupported("no element-wise operator");
  if (!p.epilogue.empty()) return unsupported("a fused chain");
  for (const TensorDesc& desc : p.inputs)
    if (desc.type.type != DataType::float64) return unsupported("operands that are not");
  const auto call = float64_call_of(p.op);
  return call ? Result<Float64Call>(*call) : unsupported("a rare function");
}

}  // namespace enginery
