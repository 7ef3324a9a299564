// Losses, as graphs that are exported with them have. ONNX NegativeLogLikelihoodLoss-22,
// SoftmaxCrossEntropyLoss-13.
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

ValueId to_type_of(NodeReader& node, ValueId v, ValueId like) {
  return node.type(v) == node.type(like) ? v : node.add(Cast{node.type(like)}, {v});
}

// The mean over all, or with weights their weighted mean; the sum; or the losses as they are.
ValueId reduce_losses(NodeReader& node, ValueId losses, ValueId weights) {
  const std::string reduction = node.text("reduction", "mean");
  if (reduction == "none") return losses;
  Reduce over{ReduceKind::sum, {}, false};
  if (reduction == "sum") return node.add(over, {losses});
  if (reduction != "mean") node.reject("attribute reduction is '" + printable(reduction) + "'");
  if (weights == kNoValue) {
    over.kind = ReduceKind::mean;
    return node.add(over, {losses});
  }
  return node.add(Binary{BinaryKind::div}, {node.add(over, {losses}), node.add(over, {weights})});
}

// `scores` [N, C, ...] are logarithms of probabilities, `target` [N, ...] the right classes; input
// 2, where given, has a weight for each class.
ValueId likelihood_loss(NodeReader& node, ValueId scores, ValueId target) {
  const ValueId given = node.optional_input(2), one = node.ints_constant({1});
  ValueId weights = kNoValue, ignored = kNoValue;
  if (node.has("ignore_index")) {
    const ValueId index = node.constant(Tensor::scalar(node.integer("ignore_index", 0)));
    ignored = node.add(Binary{BinaryKind::equal}, {target, index});
    target = node.add(Where{}, {ignored, node.constant(Tensor::scalar(int64_t{0})), target});
  }
  const ValueId places = node.add(Unsqueeze{}, {target, one});
  const ValueId chosen = node.add(Squeeze{}, {node.add(GatherElements{1}, {scores, places}), one});
  ValueId losses = node.add(Unary{UnaryKind::neg}, {chosen});
  if (given != kNoValue) weights = node.add(Gather{0}, {given, target});
  if (ignored != kNoValue) {
    const ValueId none = node.number_constant(0, node.type(scores));
    if (weights == kNoValue) weights = node.number_constant(1, node.type(scores));
    weights = node.add(Where{}, {ignored, none, weights});
  }
  if (weights != kNoValue) {
    weights = to_type_of(node, weights, losses);
    losses = node.add(Binary{BinaryKind::mul}, {losses, weights});
  }
  return reduce_losses(node, losses, weights);
}

void read_likelihood_loss(NodeReader& node) {
  const ValueId scores = node.input(0), target = as_int64(node, node.input(1));
  node.result(likelihood_loss(node, scores, target));
}

void read_cross_entropy_loss(NodeReader& node) {
  const ValueId x = node.input(0), target = as_int64(node, node.input(1));
  const ValueId scores = node.add(Softmax{1, true}, {x});
  node.result(likelihood_loss(node, scores, target), 0);
  node.result(scores, 1);
}

constexpr OperatorReader kLossReaders[] = {
    {"NegativeLogLikelihoodLoss", read_likelihood_loss},
    {"SoftmaxCrossEntropyLoss", read_cross_entropy_loss},
};

}  // namespace

std::span<const OperatorReader> loss_readers() {
  return kLossReaders;
}

}  // namespace enginery
