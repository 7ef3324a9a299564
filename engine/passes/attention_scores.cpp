#include "engine/passes/attention_scores.h"

#include <algorithm>

#include "engine/ops/element_order.h"

namespace enginery {
namespace {

constexpr size_t kMaxAddends = 2;

// Whether a reshape between them keeps the matrices and only counts their stack otherwise.
bool same_matrices(const Dims& a, const Dims& b) {
  return a.size() >= 2 && b.size() >= 2 && std::equal(a.end() - 2, a.end(), b.end() - 2);
}

// Reads the scores backwards; each step has one reader and keeps the type.
class ScoresReader {
 public:
  ScoresReader(const Graph& graph, const Matcher& matcher) : graph_(graph), m_(matcher) {}

  std::optional<Scores> read(ValueId v) const { return added(v, kMaxAddends); }

 private:
  bool keeps_type(ValueId v, ValueId from) const {
    return graph_.value(v).type == graph_.value(from).type;
  }
  const Dims& dims_of(ValueId v) const { return graph_.value(v).type.dims; }

  // The value before all reshapes of the stack.
  ValueId before_reshapes(ValueId v) const {
    const Node* node = m_.private_producer(v);
    while (node && keeps_element_order(node->op) &&
           same_matrices(dims_of(node->inputs[0]), dims_of(v))) {
      v = node->inputs[0];
      node = m_.private_producer(v);
    }
    return v;
  }

  std::optional<Scores> added(ValueId of, size_t most) const {
    const ValueId v = before_reshapes(of);
    const Node* node = m_.private_producer(v);
    const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
    if (most == 0 || !binary || binary->kind != BinaryKind::add) return chosen(v);
    for (const size_t side : {0u, 1u}) {
      auto scores =
          keeps_type(v, node->inputs[side]) ? added(node->inputs[side], most - 1) : std::nullopt;
      if (!scores) continue;
      scores->addends.push_back({node->inputs[1 - side], dims_of(v)});
      return scores;
    }
    return std::nullopt;
  }

  std::optional<Scores> chosen(ValueId of) const {
    const ValueId v = before_reshapes(of);
    const Node* node = m_.private_producer(v);
    if (!node || !std::holds_alternative<Where>(node->op)) return scaled(v, 1);
    for (const size_t side : {1u, 2u}) {
      const auto blank = m_.scalar(node->inputs[3 - side]);
      if (!blank || !keeps_type(v, node->inputs[side])) continue;
      auto scores = scaled(node->inputs[side], 1);
      if (!scores) continue;
      scores->choice = ScoreMask{node->inputs[0], dims_of(v)};
      scores->hides = side == 2;
      scores->blank = *blank;
      return scores;
    }
    return std::nullopt;
  }

  std::optional<Scores> scaled(ValueId of, float scale) const {
    const ValueId v = before_reshapes(of);
    const Node* node = m_.private_producer(v);
    if (!node) return std::nullopt;
    if (std::holds_alternative<MatMul>(node->op)) {
      Scores out;
      out.a = node->inputs[0];
      out.b = node->inputs[1];
      out.product = dims_of(v);
      out.scale = scale;
      return out;
    }
    const auto factor = read_factor(graph_, m_, *node);
    if (!factor) return std::nullopt;
    return scaled(factor->other, scale * factor->scalar);
  }

  const Graph& graph_;
  const Matcher& m_;
};

// The choice of `weights` or 0 by whether they are NaN, where nothing else reads them.
const Node* zeros_for_nan(const Graph& graph, const Matcher& matcher, ValueId weights) {
  const auto& readers = matcher.readers(weights);
  if (readers.size() != 2 || graph.is_output(weights)) return nullptr;
  for (const size_t i : {0u, 1u}) {
    const Node &test = graph.node(readers[i]), &choice = graph.node(readers[1 - i]);
    const Unary* unary = std::get_if<Unary>(&test.op);
    if (!unary || unary->kind != UnaryKind::is_nan || !std::holds_alternative<Where>(choice.op))
      continue;
    const bool is_guard = choice.inputs[0] == test.outputs[0] && choice.inputs[2] == weights &&
                          matcher.only_reader(test) == readers[1 - i] &&
                          matcher.scalar(choice.inputs[1]) == 0.0f &&
                          graph.value(choice.outputs[0]).type == graph.value(weights).type;
    if (is_guard) return &choice;
  }
  return nullptr;
}

// Whether `v` says of each row of `addend` whether it is -infinity throughout.
bool says_what_is_hidden(const Graph& graph, const Matcher& matcher, ValueId v, ValueId addend) {
  const Node* test = matcher.producer(v);
  const Unary* unary = test ? std::get_if<Unary>(&test->op) : nullptr;
  if (!unary || unary->kind != UnaryKind::is_negative_inf) return false;
  const Node* most = matcher.producer(test->inputs[0]);
  const Reduce* reduce = most ? std::get_if<Reduce>(&most->op) : nullptr;
  if (!reduce || reduce->kind != ReduceKind::max || !reduce->keep_dims ||
      most->inputs[0] != addend || reduce->axes.size() != 1)
    return false;
  const int64_t rank = std::ssize(graph.value(addend).type.dims), axis = reduce->axes[0];
  return axis == -1 || axis == rank - 1;
}

// The choice of 0 in rows that are hidden, of `weights` in the others, where nothing else reads
// them.
const Node* zeros_for_hidden(const Graph& graph, const Matcher& matcher, ValueId weights,
                             const Scores& scores) {
  const auto& readers = matcher.readers(weights);
  if (readers.size() != 1 || graph.is_output(weights) || scores.addends.size() != 1 ||
      scores.choice)
    return nullptr;
  const Node& choice = graph.node(readers[0]);
  const bool is_guard =
      std::holds_alternative<Where>(choice.op) && choice.inputs[2] == weights &&
      matcher.scalar(choice.inputs[1]) == 0.0f &&
      graph.value(choice.outputs[0]).type == graph.value(weights).type &&
      says_what_is_hidden(graph, matcher, choice.inputs[0], scores.addends[0].value);
  return is_guard ? &choice : nullptr;
}

}  // namespace

std::optional<Scores> read_scores(const Graph& graph, const Matcher& matcher, ValueId v) {
  return ScoresReader(graph, matcher).read(v);
}

std::optional<Matcher::WithScalar> read_factor(const Graph& graph, const Matcher& matcher,
                                               const Node& node) {
  auto factor = matcher.binary_with_scalar(&node, BinaryKind::mul);
  if (!factor) {
    factor = matcher.binary_with_scalar(&node, BinaryKind::div);
    if (factor) factor->scalar = 1 / factor->scalar;
  }
  const bool keeps_type =
      factor && graph.value(node.outputs[0]).type == graph.value(factor->other).type;
  return keeps_type ? factor : std::nullopt;
}

WeightsUse use_of_weights(const Graph& graph, const Matcher& matcher, const Node& softmax,
                          const Scores& scores) {
  ZeroRows zeros = ZeroRows::nan;
  const Node* guard = zeros_for_nan(graph, matcher, softmax.outputs[0]);
  if (!guard) {
    guard = zeros_for_hidden(graph, matcher, softmax.outputs[0], scores);
    zeros = guard ? ZeroRows::masked : ZeroRows::none;
  }
  const Node* last = guard ? guard : &softmax;
  NodeId reader = matcher.only_reader(*last);
  const auto dims = [&](ValueId v) { return graph.value(v).type.dims; };
  while (reader != kNoNode && keeps_element_order(graph.node(reader).op) &&
         same_matrices(dims(last->outputs[0]), dims(graph.node(reader).outputs[0]))) {
    last = &graph.node(reader);
    reader = matcher.only_reader(*last);
  }
  return {reader, last->outputs[0], zeros};
}

}  // namespace enginery
