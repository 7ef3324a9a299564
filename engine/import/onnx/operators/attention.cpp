#include "engine/import/onnx/operators/attention.h"

#include <cmath>
#include <limits>

#include "engine/import/onnx/operators/read_helpers.h"

namespace enginery {
namespace {

ValueId scaled(NodeReader& node, ValueId x, double factor) {
  if (factor == 1) return x;
  return node.add(Binary{BinaryKind::mul}, {x, node.number_constant(factor, node.type(x))});
}

ValueId cast_to(NodeReader& node, DataType type, ValueId x) {
  return node.type(x) == type ? x : node.add(Cast{type}, {x});
}

// `weights` with zeros in the rows in which `bias` allows nothing.
ValueId without_masked_rows(NodeReader& node, ValueId weights, ValueId bias) {
  const ValueId most = node.add(Reduce{ReduceKind::max, {-1}}, {bias});
  const ValueId is_masked = node.add(Unary{UnaryKind::is_negative_inf}, {most});
  return node.add(Where{}, {is_masked, node.number_constant(0, node.type(weights)), weights});
}

}  // namespace

ValueId to_heads(NodeReader& node, ValueId x, int64_t heads) {
  if (node.ok() && heads < 1) node.reject("the number of heads is " + std::to_string(heads));
  const ValueId parts = node.add(Reshape{}, {x, node.ints_constant({0, 0, heads, -1})});
  return node.add(Transpose{{0, 2, 1, 3}}, {parts});
}

ValueId from_heads(NodeReader& node, ValueId x) {
  const ValueId turned = node.add(Transpose{{0, 2, 1, 3}}, {x});
  return node.add(Reshape{}, {turned, node.ints_constant({0, 0, -1})});
}

ValueId additive_mask(NodeReader& node, ValueId allowed, double otherwise, DataType type) {
  return node.add(Where{},
                  {allowed, node.number_constant(0, type), node.number_constant(otherwise, type)});
}

ValueId causal_mask(NodeReader& node, int64_t queries, int64_t keys, int64_t offset) {
  const ValueId i = node.add(Reshape{}, {counting(node, queries), node.ints_constant({-1, 1})});
  const ValueId last = node.add(Binary{BinaryKind::add}, {i, node.ints_constant({offset})});
  return node.add(Binary{BinaryKind::less_equal}, {counting(node, keys), last});
}

// Queries and keys take half of the scale each, as the standard asks: narrow types overflow later.
AttentionValues attend(NodeReader& node, const AttentionScores& form, ValueId q, ValueId k,
                       ValueId v) {
  const DataType type = node.type(q);
  const double half = std::sqrt(form.scale);
  const ValueId keys = node.add(Transpose{{0, 1, 3, 2}}, {scaled(node, k, half)});
  AttentionValues out{};
  out.scores = node.add(MatMul{}, {scaled(node, q, half), keys});
  out.capped = out.scores;
  if (form.softcap > 0) {
    const ValueId bent =
        node.add(Activation{ActivationKind::tanh}, {scaled(node, out.scores, 1.0 / form.softcap)});
    out.capped = scaled(node, bent, form.softcap);
  }
  out.biased = form.bias == kNoValue ? out.capped
                                     : node.add(Binary{BinaryKind::add}, {out.capped, form.bias});
  out.weights = node.add(Softmax{-1}, {cast_to(node, form.softmax_type, out.biased)});
  if (form.guards_masked_rows) out.weights = without_masked_rows(node, out.weights, form.bias);
  out.weights = cast_to(node, type, out.weights);
  out.result = node.add(MatMul{}, {out.weights, v});
  return out;
}

}  // namespace enginery
