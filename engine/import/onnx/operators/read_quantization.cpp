// Quantisation and its inverse. ONNX QuantizeLinear-21, DequantizeLinear-21,
// DynamicQuantizeLinear-11.
#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

void read_quantize(NodeReader& node) {
  node.ignore({"saturate"});  // of 8-bit floats only
  const ValueId x = node.input(0), scale = node.input(1), zero = node.optional_input(2);
  Quantize op{zero == kNoValue ? DataType::uint8 : node.type(zero), node.integer("axis", 1),
              node.integer("block_size", 0)};
  if (int64_t wanted = node.integer("output_dtype", 0); wanted != 0) {
    const auto type = onnx_type(wanted);
    if (!type) return node.refuse("attribute output_dtype: " + type.error().message);
    op.to = *type;
  }
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

constexpr OperatorReader kQuantizationReaders[] = {
    {"QuantizeLinear", read_quantize},
    {"DequantizeLinear", read_dequantize},
    {"DynamicQuantizeLinear", read_dynamic_quantize},
};

}  // namespace

std::span<const OperatorReader> quantization_readers() {
  return kQuantizationReaders;
}

}  // namespace enginery
