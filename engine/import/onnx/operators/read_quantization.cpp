// Quantisation and its inverse. ONNX QuantizeLinear-21, DequantizeLinear-21,
// DynamicQuantizeLinear-11; products of quantised numbers: MatMulInteger-10, ConvInteger-10,
// QLinearMatMul-21, QLinearConv-10.
#include <algorithm>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_quantize(NodeReader& node) {
  const ValueId x = node.input(0), scale = node.input(1), zero = node.optional_input(2);
  Quantize op{zero == kNoValue ? DataType::uint8 : node.type(zero), node.integer("axis", 1),
              node.integer("block_size", 0)};
  if (int64_t wanted = node.integer("output_dtype", 0); wanted != 0) {
    const auto type = onnx_type(wanted);
    if (!type) return node.refuse("attribute output_dtype: " + type.error().message);
    op.to = *type;
  }
  op.saturate = saturates(node, op.to);
  node.result(op, {x, scale, zero});
}

void read_dequantize(NodeReader& node) {
  Dequantize op{node.integer("axis", 1), node.integer("block_size", 0)};
  node.result(op, {node.input(0), node.input(1), node.optional_input(2)});
}

// The standard's function body: uint8 over the tensor's own range, which always includes zero.
// Zeros alone have a scale of 1, as in ONNX Runtime.
void read_dynamic_quantize(NodeReader& node) {
  const ValueId x = node.input(0);
  Reduce least{ReduceKind::min}, most{ReduceKind::max};
  least.keep_dims = most.keep_dims = false;
  const ValueId zero = node.number_constant(0, node.type(x)),
                steps = node.number_constant(255, node.type(x));
  const ValueId low = node.add(Binary{BinaryKind::min}, {node.add(least, {x}), zero});
  const ValueId high = node.add(Binary{BinaryKind::max}, {node.add(most, {x}), zero});
  const ValueId range = node.add(Binary{BinaryKind::sub}, {high, low});
  const ValueId scale = node.add(Binary{BinaryKind::div}, {or_where_zero(node, range, 255), steps});
  ValueId shift =
      node.add(Unary{UnaryKind::neg}, {node.add(Binary{BinaryKind::div}, {low, scale})});
  const ValueId inside = node.add(Activation{ActivationKind::clip, 0, 255}, {shift});
  ValueId zero_point =
      node.add(Cast{DataType::uint8}, {node.add(Unary{UnaryKind::round}, {inside})});
  node.result(node.add(Quantize{DataType::uint8}, {x, scale, zero_point}), 0);
  node.result(scale, 1);
  node.result(zero_point, 2);
}

// x less its zero point, as numbers of `type`.
ValueId without_zero(NodeReader& node, DataType type, ValueId x, ValueId zero) {
  const ValueId wide = node.add(Cast{type}, {x});
  if (zero == kNoValue) return wide;
  return node.add(Binary{BinaryKind::sub}, {wide, node.add(Cast{type}, {zero})});
}

// A number for each row of a matrix: as a column. A single number stays as it is.
ValueId as_column(NodeReader& node, ValueId v) {
  const bool is_row = v != kNoValue && node.rank(v) == 1 && node.dims(v)[0] != 1;
  return is_row ? node.add(Unsqueeze{}, {v, node.ints_constant({1})}) : v;
}

void read_matmul_integer(NodeReader& node) {
  const ValueId a = node.input(0), b = node.input(1);
  const ValueId a_zero = as_column(node, node.optional_input(2)), b_zero = node.optional_input(3);
  node.result(MatMul{}, {without_zero(node, DataType::int32, a, a_zero),
                         without_zero(node, DataType::int32, b, b_zero)});
}

// The sum as y's scale and zero point say it; `factor` is what one unit of the sum stands for.
void result_requantized(NodeReader& node, ValueId sum, ValueId factor, ValueId scale,
                        ValueId zero) {
  const DataType type = node.type(factor);
  const ValueId real = node.add(Binary{BinaryKind::mul}, {node.add(Cast{type}, {sum}), factor});
  result_quantized(node, real, scale, zero);
}

// Whether those inputs are constants, as far as they are there: then the product is written as Q/DQ
// models write it, and so runs in 8 bits where that is faster. Scales that runs tell keep the form
// below, whose sums are exact in the references, too.
bool has_known_steps(NodeReader& node, std::initializer_list<size_t> known) {
  return std::ranges::all_of(known, [&](size_t i) {
    return !node.has_input(i) || node.constant(node.optional_input(i)) != nullptr;
  });
}

bool is_single(const NodeReader& node, ValueId v) {
  return node.rank(v) == 0 || (node.rank(v) == 1 && node.dims(v)[0] == 1);
}

// a, of one scale, times constant b: inputs as of QLinearMatMul.
void read_matmul_of_reals(NodeReader& node) {
  const ValueId a = node.add(Dequantize{}, {node.input(0), node.input(1), node.input(2)});
  const ValueId weights = node.input(3);
  const ValueId b =
      node.add(Dequantize{node.rank(weights) - 1}, {weights, node.input(4), node.input(5)});
  result_quantized(node, node.add(MatMul{}, {a, b}), node.input(6), node.input(7));
}

void read_qlinear_matmul(NodeReader& node) {
  if (has_known_steps(node, {1, 2, 3, 4, 5, 6, 7}) && is_single(node, node.input(1)) &&
      (is_single(node, node.input(4)) || node.rank(node.input(4)) == 1))
    return read_matmul_of_reals(node);
  const ValueId a = node.input(0), a_zero = as_column(node, node.input(2));
  const ValueId b = node.input(3), b_zero = node.input(5);
  const ValueId factor =
      node.add(Binary{BinaryKind::mul}, {as_column(node, node.input(1)), node.input(4)});
  const ValueId sum = node.add(MatMul{}, {without_zero(node, DataType::int32, a, a_zero),
                                          without_zero(node, DataType::int32, b, b_zero)});
  result_requantized(node, sum, factor, node.input(6), node.input(7));
}

// The type in which products of 8-bit numbers, one for each weight of an output, add up exactly.
DataType exact_sum_type(NodeReader& node, ValueId weights) {
  int64_t products = 1;
  for (int64_t d = 1; d < node.rank(weights); ++d)
    products *= node.size(weights, d, "the weights' size");
  constexpr int64_t kMostInFloat = (int64_t{1} << 24) / (255 * 255);
  return products <= kMostInFloat ? DataType::float32 : DataType::float64;
}

// One number for each of the weights' outputs, or one for all.
ValueId per_output(NodeReader& node, ValueId v, int64_t rank) {
  if (v == kNoValue || node.rank(v) == 0 || node.dims(v)[0] == 1) return v;
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[0] = -1;
  return node.add(Reshape{}, {v, node.ints_constant(shape)});
}

ValueId quantized_convolution(NodeReader& node, ValueId x, ValueId x_zero, ValueId weights,
                              ValueId w_zero, const Convolution& op) {
  const DataType type = exact_sum_type(node, weights);
  return node.add(
      op, {without_zero(node, type, x, x_zero),
           without_zero(node, type, weights, per_output(node, w_zero, node.rank(weights)))});
}

void read_conv_integer(NodeReader& node) {
  const ValueId sum =
      quantized_convolution(node, node.input(0), node.optional_input(2), node.input(1),
                            node.optional_input(3), convolution_of(node, 1));
  node.result(Cast{DataType::int32}, {sum});
}

// Weights, scales and zero points are constants: inputs as of QLinearConv.
void read_conv_of_reals(NodeReader& node) {
  const ValueId x = node.add(Dequantize{}, {node.input(0), node.input(1), node.input(2)});
  const ValueId weights = node.input(3), w_scale = node.input(4);
  std::vector<ValueId> inputs = {x, node.add(Dequantize{0}, {weights, w_scale, node.input(5)})};
  const Convolution op = convolution_of(node, 3);
  if (node.has_input(8)) {
    const ValueId unit = node.add(Binary{BinaryKind::mul}, {node.input(1), w_scale});
    inputs.push_back(node.add(Dequantize{0}, {node.input(8), unit}));
  }
  result_quantized(node, node.add(op, std::move(inputs)), node.input(6), node.input(7));
}

void read_qlinear_conv(NodeReader& node) {
  if (has_known_steps(node, {1, 2, 3, 4, 5, 6, 7, 8})) return read_conv_of_reals(node);
  const ValueId weights = node.input(3), bias = node.optional_input(8);
  const int64_t rank = node.rank(weights);
  ValueId sum = quantized_convolution(node, node.input(0), node.input(2), weights, node.input(5),
                                      convolution_of(node, 3));
  if (bias != kNoValue) {
    const ValueId wide = node.add(Cast{node.type(sum)}, {bias});
    sum = node.add(Binary{BinaryKind::add}, {sum, per_channel(node, wide, rank)});
  }
  const ValueId w_scale = node.input(4);
  const bool is_single = node.rank(w_scale) == 0 || node.dims(w_scale)[0] == 1;
  const ValueId factor =
      node.add(Binary{BinaryKind::mul},
               {node.input(1), is_single ? w_scale : per_channel(node, w_scale, rank)});
  result_requantized(node, sum, factor, node.input(6), node.input(7));
}

constexpr OperatorReader kQuantizationReaders[] = {
    {"QuantizeLinear", read_quantize},
    {"DequantizeLinear", read_dequantize},
    {"DynamicQuantizeLinear", read_dynamic_quantize},
    {"MatMulInteger", read_matmul_integer},
    {"ConvInteger", read_conv_integer},
    {"QLinearMatMul", read_qlinear_matmul},
    {"QLinearConv", read_qlinear_conv},
};

}  // namespace

void result_quantized(NodeReader& node, ValueId y, ValueId scale, ValueId zero) {
  const DataType type = zero == kNoValue ? DataType::uint8 : node.type(zero);
  node.result(Quantize{type, 1, 0}, {y, scale, zero});
}

std::span<const OperatorReader> quantization_readers() {
  return kQuantizationReaders;
}

}  // namespace enginery
