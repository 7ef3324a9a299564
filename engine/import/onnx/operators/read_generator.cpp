// Operators that make tensors from attributes and sizes. ONNX Constant-21, ConstantOfShape-21,
// Range-11, EyeLike-9, OneHot-11, Trilu-14.
#include <algorithm>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

constexpr int64_t kMaxMaskElements = int64_t{1} << 24;

void read_constant(NodeReader& node) {
  if (auto* tensor = node.any("value")) {
    if (const Tensor* t = std::get_if<Tensor>(tensor)) return node.result(*t);
    if (const auto* u = std::get_if<UnreadableAttribute>(tensor))
      return node.refuse("attribute value: " + u->reason);
    return node.reject("attribute value is not a tensor");
  }
  if (auto* sparse = node.any("sparse_value")) {
    if (const Tensor* t = std::get_if<Tensor>(sparse)) return node.result(*t);
    return node.refuse("attribute sparse_value is not supported");
  }
  if (node.has("value_float")) return node.result(Tensor::scalar(node.real("value_float", 0)));
  if (node.has("value_int")) return node.result(Tensor::scalar(node.integer("value_int", 0)));
  if (node.has("value_ints")) {
    const auto values = node.integers("value_ints");
    return node.result(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
  }
  if (auto* floats = node.any("value_floats")) {
    if (const auto* values = std::get_if<std::vector<float>>(floats)) {
      return node.result(Tensor::of<float>({static_cast<int64_t>(values->size())}, *values));
    }
    if (const auto* empty = std::get_if<std::vector<int64_t>>(floats); empty && empty->empty()) {
      return node.result(Tensor(DataType::float32, {0}));
    }
  }
  node.refuse("it has no value of a supported kind");
}

void read_constant_of_shape(NodeReader& node) {
  ConstantOfShape op;
  if (const AttributeValue* attribute = node.any("value")) {
    const Tensor* value = std::get_if<Tensor>(attribute);
    if (!value || value->size() != 1)
      return node.reject("attribute value is not a tensor of one element");
    op = {value->type(), convert(*value, DataType::float32).data<float>()[0]};
    // ConstantOfShape holds a float: what that cannot hold would come out rounded.
    const Tensor back = convert(Tensor::scalar(op.value), value->type());
    if (!std::ranges::equal(back.byte_span(), value->byte_span())) {
      const ValueId element = node.constant(value->reshaped({1}));
      return node.result(Expand{}, {element, as_int64(node, node.input(0))});
    }
  }
  node.result(op, {as_int64(node, node.input(0))});
}

void read_range(NodeReader& node) {
  node.result(Range{}, {node.input(0), node.input(1), node.input(2)});
}

// The elements [row, column] of a matrix for which `inside` holds.
template <typename Inside>
Tensor mask(int64_t rows, int64_t columns, Inside&& inside) {
  Tensor out(DataType::boolean, {rows, columns});
  auto data = out.mutable_data<bool>();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) data[static_cast<size_t>(r * columns + c)] = inside(r, c);
  }
  return out;
}

// The matrix that the last two dimensions make; refuses the node when it is too large for a
// constant.
std::pair<int64_t, int64_t> matrix_size(NodeReader& node, ValueId x) {
  const int64_t rows = node.size(x, node.rank(x) - 2, "the number of rows");
  const int64_t columns = node.size(x, node.rank(x) - 1, "the number of columns");
  if (rows * columns > kMaxMaskElements) node.refuse("the matrix is too large for a constant");
  return {rows, columns};
}

void read_eye_like(NodeReader& node) {
  const ValueId x = node.input(0);
  const int64_t k = node.integer("k", 0);
  DataType type = node.type(x);
  if (node.has("dtype")) {
    const auto wanted = onnx_type(node.integer("dtype", 0));
    if (!wanted) return node.refuse("attribute dtype: " + wanted.error().message);
    type = *wanted;
  }
  if (node.rank(x) != 2) return node.reject("the input is not a matrix");
  const auto [rows, columns] = matrix_size(node, x);
  if (!node.ok()) return;
  node.result(convert(mask(rows, columns, [k](int64_t r, int64_t c) { return c - r == k; }), type));
}

void read_trilu(NodeReader& node) {
  const ValueId x = node.input(0);
  const bool upper = node.integer("upper", 1) != 0;
  std::vector<int64_t> k{0};
  if (node.has_input(1)) k = node.ints(node.input(1), "k");
  if (node.ok() && k.size() != 1) return node.reject("k is not one number");
  const auto [rows, columns] = matrix_size(node, x);
  if (!node.ok()) return;
  const int64_t shift = std::clamp<int64_t>(k[0], -kMaxMaskElements, kMaxMaskElements);
  const auto inside = [&](int64_t r, int64_t c) { return upper ? c - r >= shift : c - r <= shift; };
  const ValueId kept = node.constant(mask(rows, columns, inside));
  node.result(Where{}, {kept, x, node.number_constant(0, node.type(x))});
}

// Compares each index, unsqueezed along the axis, with 0 .. depth-1; negative indices count from
// the end.
void read_one_hot(NodeReader& node) {
  const ValueId indices = as_int64(node, node.input(0)), values = node.input(2);
  const int64_t depth = static_cast<int64_t>(node.number(node.input(1), "the depth"));
  const int64_t axis = node.axis(node.integer("axis", -1), node.rank(indices) + 1);
  const ValueId all = node.ints_constant({depth}), zero = node.ints_constant({0});
  const ValueId is_negative = node.add(Binary{BinaryKind::less}, {indices, zero});
  const ValueId from_end = node.add(Binary{BinaryKind::add}, {indices, all});
  const ValueId positive = node.add(Where{}, {is_negative, from_end, indices});
  const ValueId wide = node.add(Unsqueeze{}, {positive, node.ints_constant({axis})});
  std::vector<int64_t> shape(static_cast<size_t>(node.rank(indices) + 1), 1);
  shape[static_cast<size_t>(axis)] = depth;
  const ValueId positions = node.add(Reshape{}, {counting(node, depth), node.ints_constant(shape)});
  const ValueId hot = node.add(Binary{BinaryKind::equal}, {positions, wide});
  const ValueId on = node.add(Gather{0}, {values, node.ints_constant({1})});
  const ValueId off = node.add(Gather{0}, {values, node.ints_constant({0})});
  node.result(Where{}, {hot, on, off});
}

constexpr OperatorReader kGeneratorReaders[] = {
    {"Constant", read_constant}, {"ConstantOfShape", read_constant_of_shape},
    {"Range", read_range},       {"EyeLike", read_eye_like},
    {"Trilu", read_trilu},       {"OneHot", read_one_hot},
};

}  // namespace

std::span<const OperatorReader> generator_readers() {
  return kGeneratorReaders;
}

}  // namespace enginery
