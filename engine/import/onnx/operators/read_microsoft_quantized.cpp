// Operators on 8-bit numbers of the domain com.microsoft, which ONNX Runtime's quantize_static
// writes in its QOperator format. Source: ONNX Runtime's list of contributed operators.
//
// Each is what it computes on real numbers between Dequantize and Quantize: the form of Q/DQ
// models, of which the passes and tactics know what runs in integers.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// Inputs `at`, `at` + 1 and `at` + 2: numbers, scale and zero point, which may be absent.
ValueId real_input(NodeReader& node, size_t at) {
  const ValueId x = node.input(at), scale = node.input(at + 1);
  return node.add(Dequantize{}, {x, scale, node.optional_input(at + 2)});
}

// y by the scale of input `at` and the zero point behind it.
void result_in_steps(NodeReader& node, ValueId y, size_t at) {
  result_quantized(node, y, node.input(at), node.optional_input(at + 1));
}

template <BinaryKind kind>
void read_qlinear_binary(NodeReader& node) {
  const ValueId a = real_input(node, 0), b = real_input(node, 3);
  result_in_steps(node, node.add(Binary{kind}, {a, b}), 6);
}

// Inputs: scale and zero point of the result, then those of each part with it.
void read_qlinear_concat(NodeReader& node) {
  const size_t parts = (node.input_count() - std::min<size_t>(node.input_count(), 2)) / 3;
  if (parts == 0 || node.input_count() != 2 + 3 * parts)
    return node.reject("its inputs are no tensors with scale and zero point each");
  std::vector<ValueId> real;
  for (size_t i = 0; i < parts; ++i) real.push_back(real_input(node, 2 + 3 * i));
  if (!node.has("axis")) node.reject("attribute axis is missing");
  const int64_t axis = node.axis(node.integer("axis", 0), node.rank(real[0]));
  result_in_steps(node, node.add(Concat{axis}, std::move(real)), 0);
}

// Inputs: the condition, numbers for true and for false, scale and zero point of the result.
void read_qlinear_where(NodeReader& node) {
  const ValueId condition = node.input(0), a = real_input(node, 1), b = real_input(node, 4);
  result_in_steps(node, node.add(Where{}, {condition, a, b}), 7);
}

// Whether channels are the last dimension; refused.
bool refuses_channels_last(NodeReader& node) {
  const bool is_last = node.integer("channels_last", 0) != 0;
  if (is_last) node.refuse("attribute channels_last=1 is not supported");
  return is_last;
}

void read_qlinear_global_average(NodeReader& node) {
  if (refuses_channels_last(node)) return;
  const ValueId x = real_input(node, 0);
  result_in_steps(node, node.add(GlobalPooling{PoolKind::average}, {x}), 3);
}

void read_qlinear_average(NodeReader& node) {
  if (refuses_channels_last(node)) return;
  const Pooling op = average_pooling_of(node);
  result_in_steps(node, node.add(op, {real_input(node, 0)}), 3);
}

void read_qlinear_sigmoid(NodeReader& node) {
  const ValueId x = real_input(node, 0);
  result_in_steps(node, node.add(Activation{ActivationKind::sigmoid}, {x}), 3);
}

void read_qlinear_leaky_relu(NodeReader& node) {
  const ValueId x = real_input(node, 0);
  const Activation op{ActivationKind::leaky_relu, node.real("alpha", 0.01f)};
  result_in_steps(node, node.add(op, {x}), 3);
}

// Attribute opset: that of the Softmax which it stands for.
void read_qlinear_softmax(NodeReader& node) {
  const ValueId x = real_input(node, 0);
  const int64_t rank = node.rank(x), opset = node.integer("opset", 13);
  const int64_t axis = node.axis(node.integer("axis", opset < 13 ? 1 : -1), rank);
  if (opset < 13 && axis != rank - 1)
    return node.refuse("a softmax over several dimensions is not supported");
  result_in_steps(node, node.add(Softmax{axis, false}, {x}), 3);
}

// Inputs: a, b, the bias in int32 (in units of alpha times both scales), and what the result is
// counted in; without that it is real.
void read_qgemm(NodeReader& node) {
  const bool transpose_a = node.integer("transA", 0) != 0,
             transpose_b = node.integer("transB", 0) != 0;
  const float alpha = node.real("alpha", 1);
  const ValueId a = real_input(node, 0);
  const ValueId scale_b = node.input(4);
  const ValueId b = node.add(Dequantize{transpose_b ? int64_t{0} : int64_t{1}},
                             {node.input(3), scale_b, node.optional_input(5)});
  std::vector<ValueId> inputs = {a, b};
  if (node.has_input(6)) {
    ValueId unit = node.add(Binary{BinaryKind::mul}, {node.input(1), scale_b});
    if (alpha != 1)
      unit =
          node.add(Binary{BinaryKind::mul}, {unit, node.number_constant(alpha, node.type(unit))});
    const ValueId bias = node.input(6);
    inputs.push_back(node.add(Dequantize{std::max<int64_t>(node.rank(bias) - 1, 0)}, {bias, unit}));
  }
  const Gemm op{alpha, 1, transpose_a, transpose_b};
  if (!node.has_input(7)) return node.result(op, std::move(inputs));
  result_in_steps(node, node.add(op, std::move(inputs)), 7);
}

constexpr OperatorReader kMicrosoftQuantizedReaders[] = {
    {"QLinearAdd", read_qlinear_binary<BinaryKind::add>},
    {"QLinearMul", read_qlinear_binary<BinaryKind::mul>},
    {"QLinearConcat", read_qlinear_concat},
    {"QLinearWhere", read_qlinear_where},
    {"QLinearGlobalAveragePool", read_qlinear_global_average},
    {"QLinearAveragePool", read_qlinear_average},
    {"QLinearSigmoid", read_qlinear_sigmoid},
    {"QLinearLeakyRelu", read_qlinear_leaky_relu},
    {"QLinearSoftmax", read_qlinear_softmax},
    {"QGemm", read_qgemm},
};

}  // namespace

std::span<const OperatorReader> microsoft_quantized_readers() {
  return kMicrosoftQuantizedReaders;
}

}  // namespace enginery
