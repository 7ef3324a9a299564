#include "engine/import/onnx/operators/read_helpers.h"

#include "engine/tensor/storage_types.h"

namespace enginery {
namespace {

constexpr int64_t kMaxCounting = int64_t{1} << 20;

}  // namespace

ValueId same_shape(NodeReader& node, ValueId x) {
  std::vector<int64_t> shape = node.dims(x);
  int unknown = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) shape[i] = i == 0 ? 0 : (++unknown, -1);
  }
  if (unknown > 1)
    node.refuse("more than one size is known only at run time; give the inputs' sizes (--shapes)");
  return node.ints_constant(shape);
}

ValueId per_channel(NodeReader& node, ValueId vector, int64_t rank) {
  std::vector<int64_t> shape(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  shape[0] = -1;
  return node.add(Reshape{}, {vector, node.ints_constant(shape)});
}

ValueId counting(NodeReader& node, int64_t n) {
  if (!node.ok()) return kNoValue;
  if (n < 0 || n > kMaxCounting) {
    node.refuse("a size of " + std::to_string(n) + " is too large");
    return kNoValue;
  }
  return node.counting({n});
}

ValueId found_positions(NodeReader& node, ValueId x) {
  if (!node.ok()) return kNoValue;
  OpenAxes& open = node.open_axes();
  std::vector<ValueId>& found = open.found[x];
  if (!found.empty()) return found[0];
  found = node.add_all(FindNonZero{}, {x});
  if (!node.ok()) return kNoValue;
  open.add_count(found[1], node.dims(found[0])[1]);
  open.add(found[0], {{{1, found[1]}}, true});
  return found[0];
}

ValueId or_where_zero(NodeReader& node, ValueId v, double number) {
  const DataType type = node.type(v);
  const ValueId is_zero = node.add(Binary{BinaryKind::equal}, {v, node.number_constant(0, type)});
  return node.add(Where{}, {is_zero, node.number_constant(number, type), v});
}

ValueId as_int64(NodeReader& node, ValueId v) {
  return v == kNoValue || node.type(v) == DataType::int64 ? v
                                                          : node.add(Cast{DataType::int64}, {v});
}

bool saturates(NodeReader& node, DataType to) {
  if (is_float8(to)) return node.integer("saturate", 1) != 0;
  node.ignore({"saturate"});
  return true;
}

ValueId ints_of_either(NodeReader& node, size_t index, const std::string& name) {
  if (node.has_input(index)) return as_int64(node, node.input(index));
  return node.has(name) ? node.ints_constant(node.integers(name)) : kNoValue;
}

ValueId sigmoid_weighted(NodeReader& node, ValueId x, float alpha) {
  const ValueId scaled = alpha == 1 ? x
                                    : node.add(Binary{BinaryKind::mul},
                                               {x, node.number_constant(alpha, node.type(x))});
  return node.add(Binary{BinaryKind::mul},
                  {x, node.add(Activation{ActivationKind::sigmoid}, {scaled})});
}

ValueId rms_normalized(NodeReader& node, ValueId x, ValueId scale, int64_t axis, float epsilon,
                       DataType type) {
  const DataType own = node.type(x);
  const bool is_of_row = node.rank(scale) <= node.rank(x) - node.axis(axis, node.rank(x));
  if (is_of_row && node.type(scale) == own) return node.add(RmsNorm{axis, epsilon}, {x, scale});
  const bool widens = element_bytes(own) < element_bytes(type);
  const ValueId wide = widens ? node.add(Cast{type}, {x}) : x;
  std::vector<int64_t> axes;
  for (int64_t i = node.axis(axis, node.rank(x)); i < node.rank(x); ++i) axes.push_back(i);
  const ValueId square = node.add(Binary{BinaryKind::mul}, {wide, wide});
  const ValueId mean = node.add(Reduce{ReduceKind::mean, axes}, {square});
  const ValueId shifted =
      node.add(Binary{BinaryKind::add}, {mean, node.number_constant(epsilon, node.type(wide))});
  ValueId y =
      node.add(Binary{BinaryKind::div}, {wide, node.add(Unary{UnaryKind::sqrt}, {shifted})});
  if (widens) y = node.add(Cast{own}, {y});
  return node.add(Binary{BinaryKind::mul}, {y, scale});
}

}  // namespace enginery
