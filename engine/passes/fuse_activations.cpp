#include "engine/passes/fuse_activations.h"

#include <cmath>

#include "engine/passes/pattern_matcher.h"

namespace enginery {
namespace {

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

// x * f(x) for f = sigmoid (swish), hard sigmoid with slope 1/6 (hard swish), tanh of softplus
// (Mish).
std::optional<Match> gated(const Matcher& m, const Node& node) {
  const Binary* binary = std::get_if<Binary>(&node.op);
  if (!binary || binary->kind != BinaryKind::mul) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Node* gate = m.private_producer(node.inputs[side]);
    const ValueId x = node.inputs[1 - side];
    if (!gate) continue;
    if (m.activation(gate, ActivationKind::tanh)) {
      const Node* softplus = m.private_producer(gate->inputs[0]);
      if (m.activation(softplus, ActivationKind::softplus) && softplus->inputs[0] == x)
        return Match{{ActivationKind::mish, 0, 0}, x};
    }
    if (gate->inputs[0] != x) continue;
    if (m.activation(gate, ActivationKind::sigmoid)) return Match{{ActivationKind::swish, 1, 0}, x};
    const Activation* hard = m.activation(gate, ActivationKind::hard_sigmoid);
    if (hard && near(hard->alpha, 1.0f / 6) && near(hard->beta, 0.5f))
      return Match{{ActivationKind::hard_swish, 0, 0}, x};
  }
  return std::nullopt;
}

// x * clip(x + 3, 0, 6) / 6, multiplied before it is divided.
std::optional<Match> hard_swish_of_six(const Matcher& m, const Node& node) {
  const auto over_six = m.binary_with_scalar(&node, BinaryKind::div);
  if (!over_six || over_six->scalar != 6) return std::nullopt;
  const Node* product = m.private_producer(over_six->other);
  const Binary* binary = product ? std::get_if<Binary>(&product->op) : nullptr;
  if (!binary || binary->kind != BinaryKind::mul) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const Node* clip = m.private_producer(product->inputs[side]);
    const Activation* a = m.activation(clip, ActivationKind::clip);
    if (!a || a->alpha != 0 || a->beta != 6) continue;
    const auto up = m.binary_with_scalar(m.private_producer(clip->inputs[0]), BinaryKind::add);
    if (up && up->scalar == 3 && up->other == product->inputs[1 - side])
      return Match{{ActivationKind::hard_swish, 0, 0}, up->other};
  }
  return std::nullopt;
}

// v = x / sqrt 2: x.
std::optional<ValueId> over_root_of_two(const Matcher& m, ValueId v) {
  const Node* scaled = m.private_producer(v);
  if (auto d = m.binary_with_scalar(scaled, BinaryKind::div); d && near(d->scalar, std::sqrt(2.0f)))
    return d->other;
  if (auto p = m.binary_with_scalar(scaled, BinaryKind::mul); p && near(p->scalar, std::sqrt(0.5f)))
    return p->other;
  return std::nullopt;
}

// The factors of the product that `v` is, through products that nothing else reads; v alone where
// it is none.
void collect_factors(const Matcher& m, ValueId v, int depth, std::vector<ValueId>& out) {
  const Node* node = depth > 0 ? m.private_producer(v) : nullptr;
  const Binary* binary = node ? std::get_if<Binary>(&node->op) : nullptr;
  if (!binary || binary->kind != BinaryKind::mul) return out.push_back(v);
  for (const ValueId input : node->inputs) collect_factors(m, input, depth - 1, out);
}

std::vector<ValueId> factors_of(const Matcher& m, const Node& node) {
  constexpr int kDepth = 3;
  std::vector<ValueId> out;
  const Binary* binary = std::get_if<Binary>(&node.op);
  if (!binary || binary->kind != BinaryKind::mul) return out;
  for (const ValueId input : node.inputs) collect_factors(m, input, kDepth, out);
  return out;
}

// Takes the scalar near `wanted` out of the factors.
bool take_scalar(const Matcher& m, float wanted, std::vector<ValueId>& factors) {
  for (size_t i = 0; i < factors.size(); ++i) {
    const auto s = m.scalar(factors[i]);
    if (!s || !near(*s, wanted)) continue;
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

constexpr float kCubic = 0.044715f, kRootOfTwoOverPi = 0.7978845608f;

// v = kCubic * x * x * x for the given x, in any order, the power as products or as pow.
bool is_cubic_term(const Matcher& m, ValueId v, ValueId x) {
  const Node* node = m.private_producer(v);
  std::vector<ValueId> factors = node ? factors_of(m, *node) : std::vector<ValueId>();
  if (!take_scalar(m, kCubic, factors)) return false;
  const auto cubed = factors.size() == 1 ? m.power(m.private_producer(factors[0])) : std::nullopt;
  if (cubed) return cubed->scalar == 3 && cubed->other == x;
  return factors == std::vector<ValueId>{x, x, x};
}

// Of x and 1 + kCubic x^2, in any order: x.
std::optional<ValueId> times_one_plus_square(const Matcher& m, const std::vector<ValueId>& pair) {
  for (const size_t side : {0, 1}) {
    const ValueId x = pair[side];
    const auto sum = m.binary_with_scalar(m.private_producer(pair[1 - side]), BinaryKind::add);
    const Node* square = sum && sum->scalar == 1 ? m.private_producer(sum->other) : nullptr;
    std::vector<ValueId> factors = square ? factors_of(m, *square) : std::vector<ValueId>();
    if (take_scalar(m, kCubic, factors) && factors == std::vector<ValueId>{x, x}) return x;
  }
  return std::nullopt;
}

// v = sqrt(2 / pi) (x + kCubic x^3) or sqrt(2 / pi) x (1 + kCubic x^2): x.
std::optional<ValueId> tanh_argument(const Matcher& m, ValueId v) {
  const Node* node = m.private_producer(v);
  std::vector<ValueId> factors = node ? factors_of(m, *node) : std::vector<ValueId>();
  if (!take_scalar(m, kRootOfTwoOverPi, factors)) return std::nullopt;
  if (factors.size() == 2) return times_one_plus_square(m, factors);
  if (factors.size() != 1) return std::nullopt;
  const Node* sum = m.private_producer(factors[0]);
  const Binary* binary = sum ? std::get_if<Binary>(&sum->op) : nullptr;
  if (!binary || binary->kind != BinaryKind::add) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const ValueId x = sum->inputs[side];
    if (is_cubic_term(m, sum->inputs[1 - side], x)) return x;
  }
  return std::nullopt;
}

// v = 1 + erf(x / sqrt 2) or 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)).
std::optional<Match> gelu_gate(const Matcher& m, ValueId v) {
  const auto plus_one = m.binary_with_scalar(m.private_producer(v), BinaryKind::add);
  if (!plus_one || plus_one->scalar != 1) return std::nullopt;
  const Node* bent = m.private_producer(plus_one->other);
  const Unary* unary = bent ? std::get_if<Unary>(&bent->op) : nullptr;
  if (unary && unary->kind == UnaryKind::erf) {
    const auto x = over_root_of_two(m, bent->inputs[0]);
    if (x) return Match{{ActivationKind::gelu_erf, 0, 0}, *x};
  } else if (m.activation(bent, ActivationKind::tanh)) {
    const auto x = tanh_argument(m, bent->inputs[0]);
    if (x) return Match{{ActivationKind::gelu_tanh, 0, 0}, *x};
  }
  return std::nullopt;
}

// x * gate(x) * 0.5 in any order (D. Hendrycks, K. Gimpel, "Gaussian error linear units", 2016).
std::optional<Match> gelu(const Matcher& m, const Node& node) {
  std::vector<ValueId> factors = factors_of(m, node);
  if (factors.size() != 3 || !take_scalar(m, 0.5f, factors)) return std::nullopt;
  for (const size_t side : {0, 1}) {
    const auto match = gelu_gate(m, factors[side]);
    if (match && match->input == factors[1 - side]) return match;
  }
  return std::nullopt;
}

}  // namespace

Result<int> fuse_activations(Graph& graph) {
  int changed = 0;
  // Hard sigmoids first: a hard swish is made of one.
  for (const auto pattern : {&hard_sigmoid, &hard_swish_of_six, &gated, &gelu}) {
    Matcher matcher(graph);
    for (const NodeId id : graph.topological_order()) {
      if (!std::holds_alternative<Binary>(graph.node(id).op)) continue;
      const auto match = pattern(matcher, graph.node(id));
      if (!match ||
          !(graph.value(match->input).type == graph.value(graph.node(id).outputs[0]).type))
        continue;
      Node& node = graph.node(id);
      matcher.rewired(id, node.inputs, {match->input});
      node.op = match->activation;
      node.inputs = {match->input};
      ++changed;
    }
  }
  return changed;
}

}  // namespace enginery
