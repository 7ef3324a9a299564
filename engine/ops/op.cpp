#include "engine/ops/op.h"

#include <algorithm>

#include "engine/ops/element_order.h"

namespace enginery {
namespace {

template <size_t I = 0>
Result<Op> make_op(std::string_view name) {
  if constexpr (I == std::variant_size_v<AnyOperator>) {
    return Error{ErrorCode::invalid_argument, "no operator is called '" + std::string(name) + "'"};
  } else {
    using T = std::variant_alternative_t<I, AnyOperator>;
    if (T::kName == name) return Op(T{});
    return make_op<I + 1>(name);
  }
}

bool goes_through_float32(DataType type) {
  return type == DataType::float16 || type == DataType::bfloat16;
}

// Elements of types for storage alone are moved, and become others by an operator that says so.
Status require_computable(const Op& op, Operands in) {
  const bool converts =
      std::holds_alternative<Quantize>(op) || std::holds_alternative<Dequantize>(op);
  if (converts || moves_elements(op)) return {};
  for (const Operand& operand : in) {
    if (!operand.present || !is_storage_only(operand.type.type)) continue;
    return Error{ErrorCode::unsupported, std::string(op_name(op)) + " does not compute in " +
                                             std::string(to_string(operand.type.type)) +
                                             ": elements of that type are moved, cast, quantized "
                                             "and dequantized"};
  }
  return {};
}

}  // namespace

Op::Op() = default;
Op::~Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;

std::string_view op_name(const Op& op) {
  return std::visit([](const auto& o) { return std::decay_t<decltype(o)>::kName; }, op);
}

std::string attributes_text(const Op& op) {
  std::string out;
  const auto append = [&](std::string_view name, const auto& value) {
    if (!out.empty()) out += ' ';
    out += std::string(name) + "=" + attribute_text(value);
  };
  std::visit([&](const auto& o) { std::decay_t<decltype(o)>::fields(o, append); }, op);
  return out;
}

Result<Op> parse_op(std::string_view name, const std::map<std::string, std::string>& attributes) {
  TRY(Op op, make_op(name));
  size_t used = 0;
  Status status;
  const auto read = [&](std::string_view field, auto& value) {
    const auto found = attributes.find(std::string(field));
    if (found == attributes.end() || !status.ok()) return;
    ++used;
    status = parse_attribute(field, found->second, value);
  };
  std::visit([&](auto& o) { std::decay_t<decltype(o)>::fields(o, read); }, op);
  if (!status.ok()) return status.error().within(std::string(name));
  if (used != attributes.size()) {
    return Error{ErrorCode::invalid_argument,
                 std::string(name) + ": an attribute that this operator does not have"};
  }
  return op;
}

InferredTypes infer_types(const Op& op, Operands in) {
  CHECK_OK(require_computable(op, in));
  TRY(auto types, std::visit([&](const auto& o) { return infer(o, in); }, op));
  for (const TensorType& t : types) {
    if (Status s = require_representable(t); !s.ok())
      return s.error().within(std::string(op_name(op)));
  }
  return types;
}

Result<std::vector<Tensor>> run_reference(const Op& op, ReferenceInputs in) {
  std::vector<Operand> operands;
  for (const Tensor* t : in) {
    operands.push_back(t ? Operand{true, t->tensor_type(), t} : Operand{false, {}, nullptr});
  }
  TRY(const auto types, infer_types(op, operands));
  const bool widens = !moves_elements(op);
  std::vector<Tensor> widened;
  widened.reserve(in.size());
  std::vector<const Tensor*> inputs;
  for (const Tensor* t : in) {
    const bool widen = t && widens && goes_through_float32(t->type());
    inputs.push_back(widen ? &widened.emplace_back(convert(*t, DataType::float32)) : t);
  }
  std::vector<Tensor> outputs;
  for (const TensorType& t : types) {
    if (!is_static(t.dims))
      return Error{ErrorCode::unsupported, "an output's shape depends on run-time data"};
    outputs.emplace_back(widens && goes_through_float32(t.type) ? DataType::float32 : t.type,
                         t.dims);
  }
  CHECK_OK(std::visit([&](const auto& o) { return reference(o, inputs, outputs); }, op));
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = convert(outputs[i], types[i].type);
  return outputs;
}

}  // namespace enginery
