// Arithmetic, comparisons, logic, selection and casts: functions of broadcast inputs. ONNX 7 to 21
// (and 6's broadcasting).
#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// Before operator set 7 the second input was aligned at `axis` instead of at the end.
ValueId align_legacy(NodeReader& node, ValueId a, ValueId b) {
  if (node.opset() >= 7 || !node.has("axis")) return node.ignore({"broadcast"}), b;
  node.ignore({"broadcast"});
  const int64_t axis = node.axis(node.integer("axis", 0), node.rank(a));
  std::vector<int64_t> shape;
  for (int64_t i = 0; i < node.rank(b); ++i)
    shape.push_back(node.size(b, i, "the second input's size"));
  shape.resize(static_cast<size_t>(std::max<int64_t>(node.rank(a) - axis, node.rank(b))), 1);
  return node.add(Reshape{}, {b, node.ints_constant(shape)});
}

template <BinaryKind kind>
void read_binary(NodeReader& node) {
  const ValueId a = node.input(0), b = node.input(1);
  node.result(Binary{kind}, {a, align_legacy(node, a, b)});
}

// The base's type is the result's; the exponent may have another.
void read_pow(NodeReader& node) {
  const ValueId base = node.input(0), exponent = align_legacy(node, base, node.input(1));
  const DataType type = node.type(base);
  if (node.type(exponent) == type) return node.result(Binary{BinaryKind::pow}, {base, exponent});
  if (is_integer(type) && is_floating(node.type(exponent))) {
    const ValueId wide = node.add(Cast{node.type(exponent)}, {base});
    return node.result(Cast{type}, {node.add(Binary{BinaryKind::pow}, {wide, exponent})});
  }
  node.result(Binary{BinaryKind::pow}, {base, node.add(Cast{type}, {exponent})});
}

void read_mod(NodeReader& node) {
  const bool dividend_sign = node.integer("fmod", 0) != 0;
  node.result(Binary{dividend_sign ? BinaryKind::fmod : BinaryKind::mod},
              {node.input(0), node.input(1)});
}

// Sum, Max, Min: any number of inputs, folded from the left.
template <BinaryKind kind>
void read_variadic(NodeReader& node) {
  node.ignore({"consumed_inputs"});
  ValueId value = node.input(0);
  for (size_t i = 1; i + 1 < node.input_count(); ++i)
    value = node.add(Binary{kind}, {value, node.input(i)});
  if (node.input_count() < 2) return node.result(Identity{}, {value});
  node.result(Binary{kind}, {value, node.input(node.input_count() - 1)});
}

void read_mean(NodeReader& node) {
  ValueId sum = node.input(0);
  for (size_t i = 1; i < node.input_count(); ++i)
    sum = node.add(Binary{BinaryKind::add}, {sum, node.input(i)});
  const double count = static_cast<double>(node.input_count());
  node.result(Binary{BinaryKind::div}, {sum, node.number_constant(count, node.type(sum))});
}

void read_bit_shift(NodeReader& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.reject("attribute direction is neither LEFT nor RIGHT");
  const BinaryKind kind = direction == "LEFT" ? BinaryKind::shift_left : BinaryKind::shift_right;
  node.result(Binary{kind}, {node.input(0), node.input(1)});
}

void read_where(NodeReader& node) {
  node.result(Where{}, {node.input(0), node.input(1), node.input(2)});
}

void read_cast(NodeReader& node) {
  const auto to = onnx_type(node.integer("to", 0));
  if (!to) return node.refuse("cast to " + to.error().message);
  node.result(Cast{*to, saturates(node, *to)}, {node.input(0)});
}

void read_cast_like(NodeReader& node) {
  const DataType to = node.type(node.input(1));
  node.result(Cast{to, saturates(node, to)}, {node.input(0)});
}

constexpr OperatorReader kElementwiseReaders[] = {
    {"Add", read_binary<BinaryKind::add>},
    {"Sub", read_binary<BinaryKind::sub>},
    {"Mul", read_binary<BinaryKind::mul>},
    {"Div", read_binary<BinaryKind::div>},
    {"Pow", read_pow},
    {"Mod", read_mod},
    {"Sum", read_variadic<BinaryKind::add>},
    {"Max", read_variadic<BinaryKind::max>},
    {"Min", read_variadic<BinaryKind::min>},
    {"Mean", read_mean},
    {"And", read_binary<BinaryKind::logical_and>},
    {"Or", read_binary<BinaryKind::logical_or>},
    {"Xor", read_binary<BinaryKind::logical_xor>},
    {"Equal", read_binary<BinaryKind::equal>},
    {"Greater", read_binary<BinaryKind::greater>},
    {"GreaterOrEqual", read_binary<BinaryKind::greater_equal>},
    {"Less", read_binary<BinaryKind::less>},
    {"LessOrEqual", read_binary<BinaryKind::less_equal>},
    {"BitShift", read_bit_shift},
    {"BitwiseAnd", read_binary<BinaryKind::bitwise_and>},
    {"BitwiseOr", read_binary<BinaryKind::bitwise_or>},
    {"BitwiseXor", read_binary<BinaryKind::bitwise_xor>},
    {"Where", read_where},
    {"Cast", read_cast},
    {"CastLike", read_cast_like},
};

}  // namespace

std::span<const OperatorReader> elementwise_readers() {
  return kElementwiseReaders;
}

}  // namespace enginery
