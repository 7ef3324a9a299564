#include "engine/import/onnx/operators/sampling.h"

#include <algorithm>

namespace enginery {
namespace {

ValueId combine(NodeReader& node, BinaryKind kind, ValueId a, ValueId b) {
  if (a == kNoValue || b == kNoValue) return a == kNoValue ? b : a;
  return node.add(Binary{kind}, {a, b});
}

// The elements of one combination of taps, weighted.
ValueId read_taps(NodeReader& node, ValueId flat, int64_t batch_dims, const std::vector<Tap>& taps,
                  const std::vector<int64_t>& strides) {
  ValueId index = kNoValue, weight = kNoValue, inside = kNoValue;
  for (size_t d = 0; d < taps.size(); ++d) {
    const ValueId step = node.constant(Tensor::scalar(strides[d]));
    index = combine(node, BinaryKind::add, index,
                    node.add(Binary{BinaryKind::mul}, {taps[d].index, step}));
    weight = combine(node, BinaryKind::mul, weight, taps[d].weight);
    inside = combine(node, BinaryKind::logical_and, inside, taps[d].inside);
  }
  const auto column = [&](ValueId v) {
    return node.add(Unsqueeze{}, {v, node.ints_constant({node.rank(v)})});
  };
  ValueId values = node.add(GatherNd{batch_dims}, {flat, column(index)});
  if (inside != kNoValue)
    values =
        node.add(Where{}, {column(inside), values, node.number_constant(0, node.type(values))});
  return weight == kNoValue ? values : node.add(Binary{BinaryKind::mul}, {values, column(weight)});
}

}  // namespace

std::vector<int64_t> pixel_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

ValueId interpolate(NodeReader& node, ValueId flat, int64_t batch_dims,
                    const std::vector<std::vector<Tap>>& taps,
                    const std::vector<int64_t>& strides) {
  std::vector<size_t> at(taps.size(), 0);
  ValueId sum = kNoValue;
  while (node.ok()) {
    std::vector<Tap> chosen;
    for (size_t d = 0; d < taps.size(); ++d) chosen.push_back(taps[d][at[d]]);
    sum = combine(node, BinaryKind::add, sum, read_taps(node, flat, batch_dims, chosen, strides));
    size_t d = taps.size();
    while (d > 0 && ++at[d - 1] == taps[d - 1].size()) at[--d] = 0;
    if (d == 0) break;
  }
  return sum;
}

std::vector<Tap> linear_taps(NodeReader& node, ValueId x, int64_t size) {
  const ValueId low = node.add(Unary{UnaryKind::floor}, {x});
  const ValueId fraction = node.add(Binary{BinaryKind::sub}, {x, low});
  const ValueId index = node.add(Cast{DataType::int64}, {low});
  const ValueId next = plus(node, index, 1);
  const auto tap = [&](ValueId at, ValueId weight) {
    return Tap{clamp_index(node, at, size), weight, is_within(node, at, 0, size)};
  };
  return {tap(index, plus(node, times(node, fraction, -1), 1)), tap(next, fraction)};
}

ValueId is_within(NodeReader& node, ValueId index, int64_t lower, int64_t upper) {
  const ValueId from =
      node.add(Binary{BinaryKind::greater_equal}, {index, node.constant(Tensor::scalar(lower))});
  const ValueId to =
      node.add(Binary{BinaryKind::less}, {index, node.constant(Tensor::scalar(upper))});
  return node.add(Binary{BinaryKind::logical_and}, {from, to});
}

ValueId clamp_index(NodeReader& node, ValueId index, int64_t size) {
  const ValueId from =
      node.add(Binary{BinaryKind::max}, {index, node.constant(Tensor::scalar(int64_t{0}))});
  return node.add(Binary{BinaryKind::min},
                  {from, node.constant(Tensor::scalar(std::max<int64_t>(size - 1, 0)))});
}

ValueId plus(NodeReader& node, ValueId x, double number) {
  return node.add(Binary{BinaryKind::add}, {x, node.number_constant(number, node.type(x))});
}

ValueId times(NodeReader& node, ValueId x, double number) {
  return node.add(Binary{BinaryKind::mul}, {x, node.number_constant(number, node.type(x))});
}

}  // namespace enginery
