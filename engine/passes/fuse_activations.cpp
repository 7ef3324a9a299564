#include "engine/passes/fuse_activations.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

// Reading patterns backwards from a value; every look-up says "nothing" instead of failing.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph), users_(graph.users()) {}

  const Node* producer(ValueId v) const {
    const NodeId id = v == kNoValue ? kNoNode : graph_.value(v).producer;
    return id == kNoNode ? nullptr : &graph_.node(id);
  }
  // The producer, if only one node reads it, so that the pattern may swallow it.
  const Node* private_producer(ValueId v) const {
    if (v == kNoValue || users_[static_cast<size_t>(v)].size() != 1 || graph_.is_output(v))
      return nullptr;
    return producer(v);
  }
  std::optional<float> scalar(ValueId v) const {
    const Tensor* t = graph_.constant(v);
    // A number of a float64 graph is not what float32 makes of it.
    const bool fits = t && is_floating(t->type()) && t->type() != DataType::float64;
    if (!fits || t->size() != 1) return std::nullopt;
    return convert(*t, DataType::float32).data<float>()[0];
  }
  // v = other (kind) scalar, in any order for commutative kinds.
  struct WithScalar {
    ValueId other;
    float scalar;
  };
  std::optional<WithScalar> binary_with_scalar(const Node* node, BinaryKind kind) const {
    const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
    if (!binary || binary->kind != kind) return std::nullopt;
    if (auto s = scalar(node->inputs[1])) return WithScalar{node->inputs[0], *s};
    const bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
    if (auto s = scalar(node->inputs[0]); s && commutes) return WithScalar{node->inputs[1], *s};
    return std::nullopt;
  }
  // Node `id` reads `now` alone, and no longer what it read `before`.
  void rewired(NodeId id, const std::vector<ValueId>& before, ValueId now) {
    for (const ValueId v : before) {
      if (v == kNoValue) continue;
      auto& readers = users_[static_cast<size_t>(v)];
      readers.erase(std::find(readers.begin(), readers.end(), id));
    }
    users_[static_cast<size_t>(now)].push_back(id);
  }
  const Activation* activation(const Node* node, ActivationKind kind) const {
    const Activation* a = node ? std::get_if<Activation>(&node->op) : nullptr;
    return a && a->kind == kind ? a : nullptr;
  }

 private:
  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
};

struct Match {
  Activation activation;
  ValueId input;
};

bool near(float a, float b) {
  return std::abs(a - b) <= 1e-4f * std::abs(b);
}

// clip(x * a + b, 0, 1) or clip(x + b, 0, 6) / 6.
std::optional<Match> hard_sigmoid(const Matcher& m, const Node& node) {
  if (auto scaled = m.binary_with_scalar(&node, BinaryKind::div); scaled && scaled->scalar == 6) {
    const Node* clip = m.private_producer(scaled->other);
    const Activation* a = m.activation(clip, ActivationKind::clip);
    if (!a || a->alpha != 0 || a->beta != 6) return std::nullopt;
    const auto shifted = m.binary_with_scalar(m.private_producer(clip->inputs[0]), BinaryKind::add);
    if (!shifted || shifted->scalar != 3) return std::nullopt;
    return Match{{ActivationKind::hard_sigmoid, 1.0f / 6, 0.5f}, shifted->other};
  }
  return std::nullopt;
}

// x * f(x) for f = sigmoid (swish) and hard sigmoid with slope 1/6 (hard swish).
std::optional<Match> gated(const Matcher& m, const Node& node) {
  const Binary* binary = std::get_if<Binary>(&node.op);
  if (!binary || binary->kind != BinaryKind::mul) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Node* gate = m.private_producer(node.inputs[side]);
    const ValueId x = node.inputs[1 - side];
    if (!gate || gate->inputs[0] != x) continue;
    if (m.activation(gate, ActivationKind::sigmoid)) return Match{{ActivationKind::swish, 1, 0}, x};
    const Activation* hard = m.activation(gate, ActivationKind::hard_sigmoid);
    if (hard && near(hard->alpha, 1.0f / 6) && near(hard->beta, 0.5f))
      return Match{{ActivationKind::hard_swish, 0, 0}, x};
  }
  return std::nullopt;
}

// x * (1 + erf(x / sqrt 2)) * 0.5 with the factor at either end.
std::optional<Match> gelu(const Matcher& m, const Node& node) {
  const Binary* binary = std::get_if<Binary>(&node.op);
  if (!binary || binary->kind != BinaryKind::mul) return std::nullopt;
  const auto gate = [&](ValueId v) -> std::optional<ValueId> {  // v = 1 + erf(x / sqrt 2): x
    const auto plus_one = m.binary_with_scalar(m.private_producer(v), BinaryKind::add);
    if (!plus_one || plus_one->scalar != 1) return std::nullopt;
    const Node* erf = m.private_producer(plus_one->other);
    const Unary* unary = erf ? std::get_if<Unary>(&erf->op) : nullptr;
    if (!unary || unary->kind != UnaryKind::erf) return std::nullopt;
    const Node* scaled = m.private_producer(erf->inputs[0]);
    if (auto d = m.binary_with_scalar(scaled, BinaryKind::div);
        d && near(d->scalar, std::sqrt(2.0f)))
      return d->other;
    if (auto p = m.binary_with_scalar(scaled, BinaryKind::mul);
        p && near(p->scalar, std::sqrt(0.5f)))
      return p->other;
    return std::nullopt;
  };
  const Activation gelu_op{ActivationKind::gelu_erf, 0, 0};
  if (auto half = m.binary_with_scalar(&node, BinaryKind::mul); half && half->scalar == 0.5f) {
    const Node* product = m.private_producer(half->other);
    const Binary* inner = product ? std::get_if<Binary>(&product->op) : nullptr;
    if (!inner || inner->kind != BinaryKind::mul) return std::nullopt;
    for (const size_t side : {0, 1}) {
      const auto x = gate(product->inputs[side]);
      if (x && *x == product->inputs[1 - side]) return Match{gelu_op, *x};
    }
    return std::nullopt;
  }
  for (const size_t side : {0, 1}) {
    const auto x = gate(node.inputs[side]);
    const auto half =
        m.binary_with_scalar(m.private_producer(node.inputs[1 - side]), BinaryKind::mul);
    if (x && half && half->scalar == 0.5f && half->other == *x) return Match{gelu_op, *x};
  }
  return std::nullopt;
}

}  // namespace

Result<int> fuse_activations(Graph& graph) {
  int changed = 0;
  // Hard sigmoids first: a hard swish is made of one.
  for (const auto pattern : {&hard_sigmoid, &gated, &gelu}) {
    Matcher matcher(graph);
    for (const NodeId id : graph.topological_order()) {
      if (!std::holds_alternative<Binary>(graph.node(id).op)) continue;
      const auto match = pattern(matcher, graph.node(id));
      if (!match ||
          !(graph.value(match->input).type == graph.value(graph.node(id).outputs[0]).type))
        continue;
      Node& node = graph.node(id);
      matcher.rewired(id, node.inputs, match->input);
      node.op = match->activation;
      node.inputs = {match->input};
      ++changed;
    }
  }
  return changed;
}

}  // namespace enginery
