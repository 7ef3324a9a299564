// Nodes of random graphs that move elements: reshapes, transposes, slices, joins, gathers, pads; in
// forms that change nothing, too, and with shapes that follow from other values.
#include <algorithm>
#include <numeric>

#include "tests/support/random_graph_maker.h"

namespace enginery::test {
namespace {

bool is_any(const Drawn&) {
  return true;
}
bool has_dims(const Drawn& v) {
  return v.rank() >= 1;
}

std::vector<Drawn> move(GraphMaker& make, Op op, const Drawn& x, std::vector<ValueId> more = {}) {
  more.insert(more.begin(), x.id);
  return make.add(std::move(op), more, x.bound, x.noise);
}

int64_t some_axis(GraphMaker& make, const Drawn& x) {
  return make.between(0, x.rank() - 1);
}

// The same elements under dims that split or join neighbours; now and then the same dims.
Dims other_dims(GraphMaker& make, const Dims& dims) {
  Dims out = dims;
  if (make.one_in(5)) return out;
  if (out.size() >= 2 && make.one_in(2)) {
    const size_t at = static_cast<size_t>(make.between(0, std::ssize(out) - 2));
    out[at] *= out[at + 1];
    out.erase(out.begin() + static_cast<ptrdiff_t>(at) + 1);
  } else if (!out.empty() && out.size() < 5) {
    const size_t at = static_cast<size_t>(make.between(0, std::ssize(out) - 1));
    const int64_t factor = out[at] % 2 == 0 ? 2 : 1;
    out[at] /= factor;
    out.insert(out.begin() + static_cast<ptrdiff_t>(at), factor);
  }
  return out;
}

void add_reshape(GraphMaker& make) {
  const auto x = make.value_where(is_any);
  std::vector<int64_t> shape = other_dims(make, x->dims());
  if (!shape.empty() && make.one_in(2))
    shape[static_cast<size_t>(make.between(0, std::ssize(shape) - 1))] = -1;
  move(make, Reshape{}, *x, {make.ints(shape)});
}

// The shape is what another node computes: constant folding must see through it.
void add_reshape_by_shape(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.exact() && v.rank() >= 1; });
  if (!x) return;
  const auto shape = make.add(Shape{}, {x->id}, 100, 0);
  if (shape.empty()) return;
  make.add_last(make.one_in(2) ? Op(Reshape{}) : Op(Expand{}), {x->id, shape[0].id}, 0);
}

void add_transpose(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  std::vector<int64_t> order(static_cast<size_t>(x->rank()));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t swaps = make.between(0, 2); swaps > 0; --swaps) {
    const size_t a = static_cast<size_t>(some_axis(make, *x)),
                 b = static_cast<size_t>(some_axis(make, *x));
    std::swap(order[a], order[b]);
  }
  move(make, Transpose{order}, *x);
}

void add_flatten(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (x) move(make, Flatten{make.between(0, x->rank())}, *x);
}

void add_squeeze(GraphMaker& make) {
  const auto x = make.value_where(
      [](const Drawn& v) { return std::count(v.dims().begin(), v.dims().end(), 1) > 0; });
  if (x) move(make, Squeeze{}, *x);
}

void add_unsqueeze(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.rank() < 5; });
  if (x) move(make, Unsqueeze{}, *x, {make.ints({make.between(0, x->rank())})});
}

void add_expand(GraphMaker& make) {
  const auto x = make.value_where(is_any);
  std::vector<int64_t> shape = x->dims();
  for (int64_t& d : shape) {
    if (d == 1) d = make.between(1, 3);
  }
  if (shape.size() < 5 && make.one_in(3)) shape.insert(shape.begin(), make.between(1, 2));
  move(make, Expand{}, *x, {make.ints(shape)});
}

void add_identity(GraphMaker& make) {
  const auto x = make.value_where(is_any);
  move(make, Identity{}, *x);
}

void add_slice(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  const int64_t axis = some_axis(make, *x), size = x->dims()[static_cast<size_t>(axis)];
  const int64_t step = make.one_of<int64_t>({1, 2, -1});
  const int64_t first = make.between(0, size - 1), last = make.between(first + 1, size + 2);
  const std::vector<int64_t> bounds =
      step > 0 ? std::vector<int64_t>{first, last} : std::vector<int64_t>{last, first - size - 1};
  move(make, Slice{}, *x,
       {make.ints({bounds[0]}), make.ints({bounds[1]}), make.ints({axis}), make.ints({step})});
}

// What a concat joins, with the bound and noise of all of it.
struct Parts {
  std::vector<ValueId> values;
  double bound, noise;
  void add(const Drawn& next, bool in_front) {
    values.insert(in_front ? values.begin() : values.end(), next.id);
    bound = std::max(bound, next.bound);
    noise = std::max(noise, next.noise);
  }
};

// A value of that type; there is one.
Drawn one_like(GraphMaker& make, const TensorType& type) {
  return *make.value_where([&](const Drawn& v) { return v.type == type; });
}

void add_concat(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  const int64_t axis = some_axis(make, *x);
  Parts parts{{x->id}, x->bound, x->noise};
  for (int64_t i = make.between(0, 2); i > 0; --i) parts.add(one_like(make, x->type), false);
  make.add(Concat{axis}, parts.values, parts.bound, parts.noise);
}

// Parts joined anew with one part more, as a DenseNet does; or what a split cut, joined again.
void add_nested_concats(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  const int64_t axis = some_axis(make, *x), size = x->dims()[static_cast<size_t>(axis)];
  Parts parts{{x->id}, x->bound, x->noise};
  if (make.one_in(2) && size > 1) {
    parts.values.clear();
    for (const Drawn& piece : move(make, Split{axis, {1, size - 1}}, *x))
      parts.values.push_back(piece.id);
  }
  for (int64_t i = make.between(1, 3); i > 0 && !parts.values.empty(); --i) {
    const Drawn next = one_like(make, x->type);
    parts.add(next, make.one_in(4));
    make.add(Concat{make.one_in(3) ? axis - x->rank() : axis}, parts.values, parts.bound,
             parts.noise);
  }
}

void add_split(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  const int64_t axis = some_axis(make, *x), size = x->dims()[static_cast<size_t>(axis)];
  if (size < 2) return;
  const int64_t first = make.between(1, size - 1);
  move(make, Split{axis, {first, size - first}}, *x);
}

// One set of indices as int32 and as int64 of the same bytes, which are other indices.
void add_gathers(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  const int64_t axis = some_axis(make, *x), size = x->dims()[static_cast<size_t>(axis)];
  const int64_t index = make.between(0, size - 1);
  move(make, Gather{axis}, *x, {make.ints({index})});
  if (make.one_in(2)) move(make, Gather{axis}, *x, {make.ints({index, 0}, DataType::int32)});
}

void add_pad(GraphMaker& make) {
  const auto x = make.value_where(has_dims);
  if (!x) return;
  std::vector<int64_t> pads = make.one_in(4) ? std::vector<int64_t>(2 * x->dims().size(), 0)
                                             : make.sizes(2 * x->dims().size(), 0, 1);
  const PadMode mode = make.one_of({PadMode::constant, PadMode::edge, PadMode::reflect});
  move(make, Pad{mode}, *x, {make.ints(pads)});
}

void add_tile(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.rank() >= 1 && v.rank() < 5; });
  if (x) move(make, Tile{}, *x, {make.ints(make.sizes(x->dims().size(), 1, 2))});
}

void add_cumulated(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) {
    return v.rank() >= 1 && (v.type.type == DataType::int32 || v.type.type == DataType::int64);
  });
  if (!x) return;
  make.add(CumSum{make.one_in(2), make.one_in(2)}, {x->id, make.ints({some_axis(make, *x)})},
           x->bound * 10, 0);
}

// Nodes over constants alone: constant folding takes these.
void offer_constant(GraphMaker& make) {
  make.offer_constant({make.one_of({DataType::float32, DataType::int32, DataType::int64,
                                    DataType::boolean, DataType::float16}),
                       make.sizes(static_cast<size_t>(make.between(1, 3)), 1, 4)});
}

constexpr NodeKind kMoves[] = {
    add_reshape, add_reshape_by_shape, add_transpose, add_transpose, add_flatten,
    add_squeeze, add_unsqueeze,        add_expand,    add_identity,  add_slice,
    add_concat,  add_nested_concats,   add_split,     add_gathers,   add_pad,
    add_tile,    add_cumulated,        offer_constant};

}  // namespace

std::span<const NodeKind> move_kinds() {
  return kMoves;
}

}  // namespace enginery::test
