// Attention in pieces, as exporters write it and nearly so: what fuse_attention takes, and planted
// neighbours that it must leave alone. Heads are 2 to 4 wide, so that graphs stay small.
#include <cmath>

#include "tests/support/random_graph_maker.h"

namespace enginery::test {
namespace {

// A value in the middle of an attention; nothing once a step was refused.
struct Step {
  GraphMaker& make;
  std::optional<Drawn> at;

  Step& then(const Op& op, std::vector<ValueId> others, double bound, double noise,
             bool last = false) {
    if (!at) return *this;
    if (last)
      others.push_back(at->id);
    else
      others.insert(others.begin(), at->id);
    const auto out = make.add(op, others, bound, noise);
    at = out.empty() ? std::nullopt : std::optional(out[0]);
    return *this;
  }
};

struct Sizes {
  int64_t images, heads, places, width;
};

// `x`, or what a layer of its own makes of it; small weights keep the scores small.
std::optional<Drawn> projected(GraphMaker& make, const Drawn& x, const Sizes& s, bool projects) {
  if (!projects) return x;
  const int64_t size = s.heads * s.width;
  const auto terms = static_cast<double>(size);
  const double bound = terms * 0.1 * x.bound + 0.3,
               noise = terms * 0.1 * x.noise + terms * kRounding * bound;
  Step step{make, x};
  step.then(MatMul{}, {make.constant(DataType::float32, {size, size}, 0.02f, 0.1f)}, bound, noise);
  if (!make.one_in(3))
    step.then(Binary{BinaryKind::add}, {make.constant(DataType::float32, {size}, 0.1f, 0.3f)},
              bound, noise + kRounding * bound);
  return step.at;
}

// [images, places, heads * width] of small numbers as [images, heads, places, width].
std::optional<Drawn> heads_of(GraphMaker& make, const Drawn& x, const Sizes& s) {
  Step step{make, x};
  step.then(Reshape{}, {make.ints({s.images, s.places, s.heads, s.width})}, x.bound, x.noise);
  step.then(Transpose{{0, 2, 1, 3}}, {}, x.bound, x.noise);
  if (make.one_in(3))
    step.then(Binary{BinaryKind::mul}, {make.constant(DataType::float32, {}, 0.5f, 0.9f)}, x.bound,
              x.noise + kRounding);
  return step.at;
}

// Relative positions of each head, over the stack as it is or as one of all matrices.
void positions(GraphMaker& make, Step& scores, const Sizes& s, double bound, double noise) {
  const bool joined = make.one_in(2);
  if (joined)
    scores.then(Reshape{}, {make.ints({s.images * s.heads, s.places, s.places})}, bound, noise);
  const Dims dims =
      joined ? Dims{s.images * s.heads, 1, s.places} : Dims{1, s.heads, s.places, s.places};
  scores.then(Binary{BinaryKind::add}, {make.constant(DataType::float32, dims)}, bound, noise,
              make.one_in(2));
  if (joined)
    scores.then(Reshape{}, {make.ints({s.images, s.heads, s.places, s.places})}, bound, noise);
}

// Scores of a bound below 8 have weights that a rounding error moves by as much of themselves.
void mask(GraphMaker& make, Step& scores, const Sizes& s) {
  const double b = scores.at->bound, noise = scores.at->noise + 2 * kRounding * b;
  if (make.one_in(3))
    scores.then(Binary{make.one_of({BinaryKind::mul, BinaryKind::div})},
                {make.constant(DataType::float32, {}, 0.6f, 0.9f)}, 2 * b, 2 * noise);
  if (make.one_in(3)) {
    Tensor choice(DataType::boolean, {s.places, s.places});
    auto* values = static_cast<uint8_t*>(choice.mutable_bytes());
    const bool causal = make.one_in(2);
    for (int64_t i = 0; i < choice.size(); ++i) {
      const bool seen = i % s.places <= i / s.places;
      values[i] = (causal ? seen : seen || make.one_in(2)) ? 1 : 0;
    }
    const ValueId chosen = make.graph().add_constant("choice", choice);
    if (!scores.at) return;
    const ValueId least = make.graph().add_constant("least", Tensor::of<float>({}, {-20.0f}));
    const auto out = make.add(Where{}, {chosen, scores.at->id, least}, 20, 2 * noise);
    scores.at = out.empty() ? std::nullopt : std::optional(out[0]);
  }
  if (make.one_in(3))
    scores.then(Binary{BinaryKind::add},
                {make.constant(DataType::float32, {s.images, 1, 1, s.places})}, 2 * b + 21,
                3 * noise, make.one_in(2));
  if (make.one_in(3)) positions(make, scores, s, 2 * b + 22, 4 * noise);
}

void add_attention(GraphMaker& make) {
  const Sizes s{make.between(1, 2), make.between(1, 3), make.between(2, 5), make.between(2, 4)};
  const Drawn x = make.input({DataType::float32, {s.images, s.places, s.heads * s.width}});
  const bool projects = make.one_in(2);
  const auto operand = [&]() -> std::optional<Drawn> {
    const auto from = projected(make, x, s, projects);
    return from ? heads_of(make, *from, s) : std::nullopt;
  };
  const auto q = operand(), k = operand(), v = operand();
  if (!q || !k || !v) return;
  Step keys{make, k};
  keys.then(Transpose{{0, 1, 3, 2}}, {}, k->bound, k->noise);
  if (!keys.at) return;
  const double b = static_cast<double>(s.width) * q->bound * k->bound;
  Step scores{make, q};
  scores.then(MatMul{}, {keys.at->id}, b,
              static_cast<double>(s.width) * 4 * (q->noise + k->noise) + kRounding * b);
  if (scores.at) mask(make, scores, s);
  if (!scores.at) return;
  // The axis before the last is another operator.
  const int64_t axis = make.one_in(5) ? 2 : make.one_of<int64_t>({-1, 3});
  scores.then(Softmax{axis}, {}, 1, 4 * scores.at->noise + kRounding);
  if (make.one_in(6)) scores.then(Unary{UnaryKind::sqrt}, {}, 1, 1e-2);
  if (!scores.at) return;
  const double noise = scores.at->noise * static_cast<double>(s.places) * v->bound + v->noise;
  scores.then(MatMul{}, {v->id}, v->bound * static_cast<double>(s.places), noise + kRounding);
  if (make.one_in(2) && scores.at) {
    const double bound = scores.at->bound;
    scores.then(Transpose{{0, 2, 1, 3}}, {}, bound, noise + kRounding);
    scores.then(Reshape{}, {make.ints({s.images, s.places, s.heads * s.width})}, bound,
                noise + kRounding);
    // One place of it, as what classifies reads it.
    if (make.one_in(3))
      scores.then(Gather{1}, {make.ints({make.between(0, s.places - 1)})}, bound,
                  noise + kRounding);
  }
}

}  // namespace

std::span<const NodeKind> attention_kinds() {
  // Twice as often as other kinds, which it is made of.
  static constexpr NodeKind kKinds[] = {add_attention, add_attention};
  return kKinds;
}

}  // namespace enginery::test
