// Element-wise nodes of random graphs: activations, arithmetic with broadcasts that may widen,
// comparisons, selections, casts, and the patterns that fuse_activations looks for.
#include <algorithm>
#include <cmath>

#include "tests/support/random_graph_maker.h"

namespace enginery::test {
namespace {

bool is_float(const Drawn& v) {
  return v.floating();
}
bool is_number(const Drawn& v) {
  return v.type.type != DataType::boolean;
}

void add_activation(GraphMaker& make) {
  const auto x = make.value_where(is_float);
  if (!x) return;
  const ActivationKind kind =
      make.one_of({ActivationKind::relu, ActivationKind::clip, ActivationKind::leaky_relu,
                   ActivationKind::sigmoid, ActivationKind::tanh, ActivationKind::hard_sigmoid,
                   ActivationKind::hard_swish});
  Activation op{kind, 0, 0};
  if (kind == ActivationKind::clip) op = {kind, -1, 1.5f};
  if (kind == ActivationKind::leaky_relu) op = {kind, 0.1f, 0};
  if (kind == ActivationKind::hard_sigmoid) op = {kind, 0.2f, 0.5f};
  // A sigmoid may become part of a swish: what multiplies by it later may be rounded otherwise.
  const bool gate = kind == ActivationKind::sigmoid || kind == ActivationKind::hard_sigmoid;
  make.add(op, {x->id}, std::max(x->bound, 1.5), 1.5 * x->noise + (gate ? kRounding : 0));
}

void add_unary(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.exact() || v.floating(); });
  if (!x) return;
  if (x->type.type == DataType::boolean)
    make.add(Unary{UnaryKind::logical_not}, {x->id}, 1, 0);
  else
    make.add(Unary{make.one_of({UnaryKind::abs, UnaryKind::neg})}, {x->id}, x->bound, x->noise);
}

// Bound and noise of `kind` over two values.
void combine(GraphMaker& make, BinaryKind kind, const Drawn& a, const Drawn& b) {
  double bound = a.bound + b.bound, noise = a.noise + b.noise;
  if (kind == BinaryKind::mul) {
    bound = a.bound * b.bound;
    noise = a.noise * b.bound + b.noise * a.bound;
  }
  if (noise > 0) noise += kRounding * bound;
  make.add(Binary{kind}, {a.id, b.id}, bound, noise);
}

BinaryKind kind_for(GraphMaker& make, DataType type) {
  if (type == DataType::boolean)
    return make.one_of({BinaryKind::logical_and, BinaryKind::logical_or, BinaryKind::logical_xor});
  return make.one_of({BinaryKind::add, BinaryKind::add, BinaryKind::mul, BinaryKind::sub,
                      BinaryKind::min, BinaryKind::max});
}

void add_binary_of_two(GraphMaker& make) {
  const auto a = make.value_where([](const Drawn&) { return true; });
  const auto b = make.value_where([&](const Drawn& v) {
    return v.type.type == a->type.type && broadcast(v.dims(), a->dims()).ok();
  });
  if (b) combine(make, kind_for(make, a->type.type), *a, *b);
}

// Dims that broadcast with `dims`: some sizes 1, some of dims' 1s larger (which widens), some
// leading ones left out or added.
Dims partner_dims(GraphMaker& make, const Dims& dims) {
  Dims out = dims;
  for (int64_t& d : out) {
    if (make.one_in(2))
      d = 1;
    else if (d == 1 && make.one_in(3))
      d = make.between(2, 3);
  }
  if (!out.empty() && make.one_in(3))
    out.erase(out.begin(), out.begin() + make.between(1, std::ssize(out)));
  if (out.size() < 5 && make.one_in(6)) out.insert(out.begin(), 2);
  return out;
}

Drawn partner_of(GraphMaker& make, const Drawn& x) {
  const ValueId c = make.constant(x.type.type, partner_dims(make, x.dims()));
  return {c, {}, make.bound_of(c), 0};
}

void add_binary_with_constant(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn&) { return true; });
  const Drawn c = partner_of(make, *x);
  const BinaryKind kind = kind_for(make, x->type.type);
  make.one_in(3) ? combine(make, kind, c, *x) : combine(make, kind, *x, c);
}

void add_division(GraphMaker& make) {
  const auto x = make.value_where(is_float);
  if (!x) return;
  const ValueId c = make.constant(x->type.type, partner_dims(make, x->dims()), 0.5f, 2.0f);
  make.add(Binary{BinaryKind::div}, {x->id, c}, 2 * x->bound,
           x->exact() ? 0 : 2 * x->noise + kRounding * x->bound);
}

// Only exact values: a comparison of rounded ones may go either way.
void add_comparison(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.exact() && is_number(v); });
  if (!x) return;
  const BinaryKind kind = make.one_of({BinaryKind::equal, BinaryKind::less, BinaryKind::greater});
  make.add(Binary{kind}, {x->id, partner_of(make, *x).id}, 1, 0);
}

void add_where(GraphMaker& make) {
  const auto condition =
      make.value_where([](const Drawn& v) { return v.type.type == DataType::boolean; });
  if (!condition) return;
  const auto a =
      make.value_where([&](const Drawn& v) { return broadcast(v.dims(), condition->dims()).ok(); });
  if (!a) return;
  const Drawn b = partner_of(make, *a);
  make.add(Where{}, {condition->id, a->id, b.id}, std::max(a->bound, b.bound), a->noise);
}

// Chains such as float -> int -> float: a cast that is dropped or moved changes the result.
void add_casts(GraphMaker& make) {
  std::optional<Drawn> x = make.value_where([](const Drawn&) { return true; });
  for (int64_t i = make.between(1, 3); i > 0 && x; --i) {
    const DataType to = x->exact()
                            ? make.one_of({DataType::float32, DataType::float16, DataType::int32,
                                           DataType::int64, DataType::boolean})
                            : make.one_of({DataType::float32, DataType::float16});
    const double bound = to == DataType::boolean ? 1 : x->bound;
    const auto out = make.add(Cast{to}, {x->id}, bound, x->noise);
    x = out.empty() ? std::nullopt : std::optional(out.back());
  }
}

// Two equal operations on constants of equal bytes, but of other dims or of another type.
void add_twins_of_other_dims(GraphMaker& make) {
  const auto x = make.value_where(
      [](const Drawn& v) { return is_number(v) && v.rank() >= 1 && v.rank() < 5; });
  if (!x) return;
  const int64_t n = x->dims().back();
  const Drawn row = {make.constant(x->type.type, {1, n}), {}, 0, 0};
  const Tensor column = make.graph().constant(row.id)->reshaped({n, 1});
  const BinaryKind kind = kind_for(make, x->type.type);
  const double bound = make.bound_of(row.id);
  const ValueId other = make.graph().add_constant("column", column);
  combine(make, kind, *x, {row.id, {}, bound, 0});
  combine(make, kind, *x, {other, {}, bound, 0});
}

void add_twins_of_another_type(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return is_integer(v.type.type); });
  if (!x) return;
  const ValueId exponent = make.ints({make.between(2, 3)}, DataType::int32);
  Tensor as_float(DataType::float32, {1});
  std::memcpy(as_float.mutable_bytes(), make.graph().constant(exponent)->raw(), 4);
  const ValueId twin = make.graph().add_constant("float", as_float);
  for (const ValueId e : {exponent, twin})
    make.add(Binary{BinaryKind::pow}, {x->id, e}, std::pow(x->bound + 1, 3), 0);
}

ValueId scalar(GraphMaker& make, float value) {
  return make.graph().add_constant("s", Tensor::scalar<float>(value));
}

// The value that a chain of binary operations with scalars gives; nothing where one is refused.
struct ScalarStep {
  BinaryKind kind;
  float scalar;
};

std::optional<Drawn> step(GraphMaker& make, const std::optional<Drawn>& x, ScalarStep s) {
  if (!x) return std::nullopt;
  const double bound = x->bound * std::max(1.0f, std::abs(s.scalar)) + std::abs(s.scalar);
  const auto out = make.add(Binary{s.kind}, {x->id, scalar(make, s.scalar)}, bound,
                            x->noise * 2 + kRounding * bound);
  return out.empty() ? std::nullopt : std::optional(out.back());
}

std::optional<Drawn> small_float(GraphMaker& make) {
  return make.value_where(
      [](const Drawn& v) { return v.type.type == DataType::float32 && v.bound < 50; });
}

void multiply(GraphMaker& make, const Drawn& x, const std::optional<Drawn>& gate) {
  if (gate) combine(make, BinaryKind::mul, x, *gate);
}

// x * sigmoid(x), and x * clip(x + 3, 0, 6) / 6; now and then with other numbers, which are
// neither.
void add_swish(GraphMaker& make) {
  const auto x = small_float(make);
  if (!x) return;
  if (make.one_in(2)) {
    const auto gate =
        make.add(Activation{ActivationKind::sigmoid, 0, 0}, {x->id}, 1, x->noise + kRounding);
    return multiply(make, *x, gate.empty() ? std::nullopt : std::optional(gate.back()));
  }
  const auto shifted = step(make, x, {BinaryKind::add, make.one_in(4) ? 2.0f : 3.0f});
  if (!shifted) return;
  const Activation clip{ActivationKind::clip, 0, make.one_in(4) ? 5.0f : 6.0f};
  const auto clipped = make.add(clip, {shifted->id}, 6, shifted->noise);
  if (clipped.empty()) return;
  multiply(make, *x, step(make, clipped.back(), {BinaryKind::div, 6}));
}

// 0.5 * x * (1 + erf(x / sqrt 2)).
void add_gelu(GraphMaker& make) {
  const auto x = small_float(make);
  const auto scaled = step(make, x, {BinaryKind::div, make.one_in(4) ? 1.5f : 1.41421356f});
  if (!scaled) return;
  const auto erf = make.add(Unary{UnaryKind::erf}, {scaled->id}, 1, 2 * scaled->noise + kRounding);
  if (erf.empty()) return;
  const auto gate = step(make, erf.back(), {BinaryKind::add, 1});
  if (!gate) return;
  const auto product = make.add(Binary{BinaryKind::mul}, {x->id, gate->id}, 2 * x->bound,
                                2 * x->noise + gate->noise * x->bound + kRounding * x->bound);
  if (!product.empty()) step(make, product.back(), {BinaryKind::mul, 0.5f});
}

constexpr NodeKind kPointwise[] = {add_activation,
                                   add_activation,
                                   add_unary,
                                   add_binary_of_two,
                                   add_binary_of_two,
                                   add_binary_with_constant,
                                   add_binary_with_constant,
                                   add_division,
                                   add_comparison,
                                   add_where,
                                   add_casts,
                                   add_casts,
                                   add_twins_of_other_dims,
                                   add_twins_of_another_type,
                                   add_swish,
                                   add_gelu};

}  // namespace

std::span<const NodeKind> pointwise_kinds() {
  return kPointwise;
}

}  // namespace enginery::test
