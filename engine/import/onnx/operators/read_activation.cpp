// Activations and other functions of one input. ONNX 6 to 21.
#include <cmath>
#include <limits>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void result_activation(NodeReader& node, Activation op) {
  node.ignore({"consumed_inputs"});
  node.result(op, {node.input(0)});
}

template <ActivationKind kind>
void read_plain(NodeReader& node) {
  result_activation(node, {kind});
}

template <UnaryKind kind>
void read_unary(NodeReader& node) {
  node.ignore({"consumed_inputs"});
  node.result(Unary{kind}, {node.input(0)});
}

void read_relu(NodeReader& node) {
  const ValueId x = node.input(0);
  if (is_floating(node.type(x))) return result_activation(node, {ActivationKind::relu});
  node.result(Binary{BinaryKind::max}, {x, node.number_constant(0, node.type(x))});
}

void read_leaky_relu(NodeReader& node) {
  result_activation(node, {ActivationKind::leaky_relu, node.real("alpha", 0.01f)});
}
void read_elu(NodeReader& node) {
  result_activation(node, {ActivationKind::elu, node.real("alpha", 1)});
}
void read_celu(NodeReader& node) {
  result_activation(node, {ActivationKind::celu, node.real("alpha", 1)});
}
void read_selu(NodeReader& node) {
  const float alpha = node.real("alpha", 1.67326319217681884765625f),
              gamma = node.real("gamma", 1.05070102214813232421875f);
  result_activation(node, {ActivationKind::selu, alpha, gamma});
}
void read_hard_sigmoid(NodeReader& node) {
  const float alpha = node.real("alpha", 0.2f), beta = node.real("beta", 0.5f);
  result_activation(node, {ActivationKind::hard_sigmoid, alpha, beta});
}
void read_thresholded_relu(NodeReader& node) {
  result_activation(node, {ActivationKind::thresholded_relu, node.real("alpha", 1)});
}
void read_swish(NodeReader& node) {
  const float alpha = node.real("alpha", 1);
  if (alpha == 1) return result_activation(node, {ActivationKind::swish});
  node.result(sigmoid_weighted(node, node.input(0), alpha));
}

void read_gelu(NodeReader& node) {
  const std::string approximate = node.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    node.reject("attribute approximate is '" + approximate + "'");
  result_activation(node,
                    {approximate == "tanh" ? ActivationKind::gelu_tanh : ActivationKind::gelu_erf});
}

// Bounds are attributes before operator set 11 and optional inputs since; bounds that are known
// make one activation.
void read_clip(NodeReader& node) {
  const ValueId x = node.input(0);
  node.ignore({"consumed_inputs"});
  if (node.opset() < 11) {
    const float low = node.real("min", -kInfinity), high = node.real("max", kInfinity);
    return result_activation(node, {ActivationKind::clip, low, high});
  }
  const ValueId low = node.optional_input(1), high = node.optional_input(2);
  const auto known = [&](ValueId v) { return v == kNoValue || node.constant(v); };
  // An activation's bounds are float32.
  const bool holds_bounds = is_floating(node.type(x)) && node.type(x) != DataType::float64;
  if (holds_bounds && known(low) && known(high)) {
    const float least = low == kNoValue ? -kInfinity : node.number(low, "min");
    const float most = high == kNoValue ? kInfinity : node.number(high, "max");
    return result_activation(node, {ActivationKind::clip, least, most});
  }
  const ValueId y = low == kNoValue ? x : node.add(Binary{BinaryKind::max}, {x, low});
  if (high == kNoValue) return node.result(Identity{}, {y});
  node.result(Binary{BinaryKind::min}, {y, high});
}

// Before operator set 7 a slope of one dimension belonged to the channels; since then it is
// broadcast from the right.
void read_prelu(NodeReader& node) {
  ValueId x = node.input(0), slope = node.input(1);
  node.ignore({"consumed_inputs"});
  if (node.opset() < 7 && node.rank(slope) == 1 && node.rank(x) > 2) {
    std::vector<int64_t> shape(static_cast<size_t>(node.rank(x) - 1), 1);
    shape[0] = node.size(slope, 0, "the slope's size");
    slope = node.add(Reshape{}, {slope, node.ints_constant(shape)});
  }
  node.result(PRelu{}, {x, slope});
}

// x < -lambd: x + bias; x > lambd: x - bias; else 0.
void read_shrink(NodeReader& node) {
  const ValueId x = node.input(0);
  const DataType type = node.type(x);
  const float bias = node.real("bias", 0), lambd = node.real("lambd", 0.5f);
  const ValueId zero = node.number_constant(0, type), shift = node.number_constant(bias, type);
  const ValueId below = node.add(Binary{BinaryKind::less}, {x, node.number_constant(-lambd, type)});
  const ValueId above =
      node.add(Binary{BinaryKind::greater}, {x, node.number_constant(lambd, type)});
  const ValueId upper =
      node.add(Where{}, {above, node.add(Binary{BinaryKind::sub}, {x, shift}), zero});
  node.result(Where{}, {below, node.add(Binary{BinaryKind::add}, {x, shift}), upper});
}

void read_is_inf(NodeReader& node) {
  const ValueId x = node.input(0);
  const bool positive = node.integer("detect_positive", 1) != 0,
             negative = node.integer("detect_negative", 1) != 0;
  if (positive && negative) return node.result(Unary{UnaryKind::is_inf}, {x});
  const BinaryKind side = positive ? BinaryKind::greater : BinaryKind::less;
  const ValueId infinite = node.add(Unary{UnaryKind::is_inf}, {x});
  const ValueId zero = node.number_constant(0, node.type(x));
  // Neither sign asked for: x > x is false everywhere.
  const ValueId signed_right = node.add(Binary{side}, {x, positive || negative ? zero : x});
  node.result(Binary{BinaryKind::logical_and}, {infinite, signed_right});
}

constexpr OperatorReader kActivationReaders[] = {
    {"Relu", read_relu},
    {"LeakyRelu", read_leaky_relu},
    {"Elu", read_elu},
    {"Celu", read_celu},
    {"Selu", read_selu},
    {"Sigmoid", read_plain<ActivationKind::sigmoid>},
    {"HardSigmoid", read_hard_sigmoid},
    {"HardSwish", read_plain<ActivationKind::hard_swish>},
    {"Mish", read_plain<ActivationKind::mish>},
    {"Tanh", read_plain<ActivationKind::tanh>},
    {"Softplus", read_plain<ActivationKind::softplus>},
    {"Softsign", read_plain<ActivationKind::softsign>},
    {"Gelu", read_gelu},
    {"Swish", read_swish},
    {"ThresholdedRelu", read_thresholded_relu},
    {"Clip", read_clip},
    {"PRelu", read_prelu},
    {"Shrink", read_shrink},
    {"Abs", read_unary<UnaryKind::abs>},
    {"Neg", read_unary<UnaryKind::neg>},
    {"Exp", read_unary<UnaryKind::exp>},
    {"Log", read_unary<UnaryKind::log>},
    {"Sqrt", read_unary<UnaryKind::sqrt>},
    {"Reciprocal", read_unary<UnaryKind::reciprocal>},
    {"Floor", read_unary<UnaryKind::floor>},
    {"Ceil", read_unary<UnaryKind::ceil>},
    {"Round", read_unary<UnaryKind::round>},
    {"Sign", read_unary<UnaryKind::sign>},
    {"Erf", read_unary<UnaryKind::erf>},
    {"Sin", read_unary<UnaryKind::sin>},
    {"Cos", read_unary<UnaryKind::cos>},
    {"Tan", read_unary<UnaryKind::tan>},
    {"Asin", read_unary<UnaryKind::asin>},
    {"Acos", read_unary<UnaryKind::acos>},
    {"Atan", read_unary<UnaryKind::atan>},
    {"Sinh", read_unary<UnaryKind::sinh>},
    {"Cosh", read_unary<UnaryKind::cosh>},
    {"Asinh", read_unary<UnaryKind::asinh>},
    {"Acosh", read_unary<UnaryKind::acosh>},
    {"Atanh", read_unary<UnaryKind::atanh>},
    {"Not", read_unary<UnaryKind::logical_not>},
    {"BitwiseNot", read_unary<UnaryKind::bitwise_not>},
    {"IsNaN", read_unary<UnaryKind::is_nan>},
    {"IsInf", read_is_inf},
};

}  // namespace

std::span<const OperatorReader> activation_readers() {
  return kActivationReaders;
}

}  // namespace enginery
