// Layers of random graphs: convolutions and poolings with odd paddings, matrix products, scales and
// shifts after them, reductions, resizing, softmax.
#include <algorithm>
#include <cmath>

#include "tests/support/random_graph_maker.h"

namespace enginery::test {
namespace {

// [N, C, spatial...] of floats.
bool is_picture(const Drawn& v) {
  return v.floating() && v.rank() >= 3;
}

struct Geometry {
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end;
};

// Odd on purpose: other paddings before than after, each smaller than the window.
Geometry geometry(GraphMaker& make, const Dims& dims) {
  Geometry g;
  for (size_t i = 2; i < dims.size(); ++i) {
    const int64_t kernel = make.between(1, std::min<int64_t>(3, dims[i]));
    g.kernel.push_back(kernel);
    g.strides.push_back(make.between(1, 2));
    g.dilations.push_back(make.one_in(4) ? 2 : 1);
    g.pads_begin.push_back(make.between(0, kernel - 1));
    g.pads_end.push_back(make.between(0, kernel - 1));
  }
  return g;
}

int64_t some_divisor(GraphMaker& make, int64_t n) {
  const int64_t d = make.between(1, n);
  return n % d == 0 ? d : 1;
}

void add_weighted(GraphMaker& make, const Op& op, const Drawn& x, const Dims& weights,
                  int64_t channels) {
  const ValueId w = make.constant(x.type.type, weights, 0.1f, 0.5f);
  std::vector<ValueId> inputs{x.id, w};
  if (make.one_in(2)) inputs.push_back(make.constant(x.type.type, {channels}));
  // Every weight of one output channel, at most: the sum of all.
  const double reach = 0.5 * static_cast<double>(volume(weights));
  make.add(op, inputs, x.bound * reach + 1, x.noise * reach + kRounding * (x.bound * reach + 1));
}

void convolve(GraphMaker& make, const Drawn& x) {
  const Geometry g = geometry(make, x.dims());
  const int64_t groups = some_divisor(make, x.dims()[1]);
  Dims weights{groups * make.between(1, 2), x.dims()[1] / groups};
  weights.insert(weights.end(), g.kernel.begin(), g.kernel.end());
  add_weighted(make, Convolution{g.strides, g.dilations, g.pads_begin, g.pads_end, groups}, x,
               weights, weights[0]);
}

void add_convolution(GraphMaker& make) {
  const auto x = make.value_where(is_picture);
  if (x) convolve(make, *x);
}

void add_deconvolution(GraphMaker& make) {
  const auto x = make.value_where(is_picture);
  if (!x) return;
  const Geometry g = geometry(make, x->dims());
  const int64_t groups = some_divisor(make, x->dims()[1]);
  Dims weights{x->dims()[1], make.between(1, 3)};
  weights.insert(weights.end(), g.kernel.begin(), g.kernel.end());
  std::vector<int64_t> output_padding;
  for (const int64_t stride : g.strides) output_padding.push_back(make.between(0, stride - 1));
  add_weighted(
      make, Deconvolution{g.strides, g.dilations, g.pads_begin, g.pads_end, output_padding, groups},
      *x, weights, weights[1] * groups);
}

void pool(GraphMaker& make, const Drawn& x) {
  Geometry g = geometry(make, x.dims());
  if (make.one_in(4)) {  // the whole plane: a global pooling by another name
    g.kernel.assign(x.dims().begin() + 2, x.dims().end());
    for (auto* list : {&g.strides, &g.dilations}) list->assign(g.kernel.size(), 1);
    for (auto* list : {&g.pads_begin, &g.pads_end}) list->assign(g.kernel.size(), 0);
  }
  const PoolKind kind = make.one_of({PoolKind::max, PoolKind::average});
  const Pooling op{kind,         g.kernel,   g.strides,      g.dilations,
                   g.pads_begin, g.pads_end, make.one_in(3), make.one_in(2)};
  make.add(op, {x.id}, x.bound, x.noise + (kind == PoolKind::average ? kRounding * x.bound : 0));
}

void add_pooling(GraphMaker& make) {
  const auto x = make.value_where(is_picture);
  if (x) pool(make, *x);
}

// A padding of its own before a window, perhaps of what is never negative, perhaps of channels.
void add_pad_before_window(GraphMaker& make) {
  auto x = make.value_where(is_picture);
  if (!x) return;
  if (make.one_in(2)) {
    const auto positive = make.add(Activation{ActivationKind::relu}, {x->id}, x->bound, x->noise);
    if (positive.empty()) return;
    x = positive[0];
  }
  std::vector<int64_t> amounts(2 * static_cast<size_t>(x->rank()), 0);
  for (size_t i = 0; i < amounts.size(); ++i) {
    const bool spatial = i % static_cast<size_t>(x->rank()) >= 2;
    amounts[i] = spatial ? make.between(0, 1) : make.one_in(8);
  }
  const auto padded = make.add(Pad{}, {x->id, make.ints(amounts)}, x->bound, x->noise);
  if (padded.empty()) return;
  if (make.one_in(2))
    convolve(make, padded[0]);
  else
    pool(make, padded[0]);
}

void add_global_pooling(GraphMaker& make) {
  const auto x = make.value_where(is_picture);
  if (!x) return;
  const PoolKind kind = make.one_of({PoolKind::max, PoolKind::average});
  make.add(GlobalPooling{kind}, {x->id}, x->bound, x->noise);
}

void add_reduction(GraphMaker& make) {
  const auto x = make.value_where(
      [](const Drawn& v) { return v.rank() >= 1 && v.type.type != DataType::boolean; });
  if (!x) return;
  Reduce op{make.one_of({ReduceKind::sum, ReduceKind::mean, ReduceKind::max, ReduceKind::min})};
  if (!x->floating() && op.kind == ReduceKind::mean) op.kind = ReduceKind::sum;
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    const bool plane = x->rank() >= 3 && axis >= 2;  // all of these: a global pooling
    if (plane ? !make.one_in(4) : make.one_in(4))
      op.axes.push_back(make.one_in(3) ? axis - x->rank() : axis);
  }
  op.keep_dims = !make.one_in(4);
  const double count = static_cast<double>(volume(x->dims()));
  const bool may_round = x->floating() && op.kind == ReduceKind::mean;
  make.add(op, {x->id}, x->bound * count,
           x->noise * count + (may_round ? kRounding * x->bound : 0));
}

void add_gemm(GraphMaker& make) {
  const auto x = make.value_where(
      [](const Drawn& v) { return v.type.type == DataType::float32 && v.rank() == 2; });
  if (!x) return;
  Gemm op{make.one_of({1.0f, 0.5f}), make.one_of({1.0f, 2.0f}), make.one_in(3), make.one_in(2)};
  const int64_t rows = x->dims()[op.transpose_a ? 1 : 0], inner = x->dims()[op.transpose_a ? 0 : 1],
                columns = make.between(1, 5);
  const Dims weights = op.transpose_b ? Dims{columns, inner} : Dims{inner, columns};
  std::vector<ValueId> inputs{x->id, make.constant(DataType::float32, weights, 0.1f, 0.5f)};
  if (make.one_in(2)) {
    const Dims bias = make.one_of<Dims>({{columns}, {1, columns}, {rows, 1}, {1}, {rows, columns}});
    inputs.push_back(make.constant(DataType::float32, bias));
  }
  const double reach = 0.5 * static_cast<double>(inner), bound = x->bound * reach + 2;
  make.add(op, inputs, bound, x->noise * reach + kRounding * bound);
}

void add_matmul(GraphMaker& make) {
  const auto x = make.value_where(
      [](const Drawn& v) { return v.type.type == DataType::float32 && v.rank() >= 2; });
  if (!x) return;
  const int64_t inner = x->dims().back();
  const ValueId w = make.constant(DataType::float32, {inner, make.between(1, 5)}, 0.1f, 0.5f);
  const double reach = 0.5 * static_cast<double>(inner);
  make.add(MatMul{}, {x->id, w}, x->bound * reach, x->noise * reach + kRounding * x->bound * reach);
}

// A layer's result, which fold_batch_norm may fold the next node into.
std::optional<Drawn> layer_result(GraphMaker& make) {
  return make.value_where([](const Drawn& v) {
    return v.type.type == DataType::float32 && v.rank() >= 2 && !v.exact();
  });
}

void add_batch_norm(GraphMaker& make) {
  const auto x = make.one_in(3) ? make.value_where([](const Drawn& v) {
    return v.type.type == DataType::float32 && v.rank() >= 2;
  })
                                : layer_result(make);
  if (!x) return;
  const Dims channels{x->dims()[1]};
  const ValueId scale = make.constant(DataType::float32, channels),
                bias = make.constant(DataType::float32, channels),
                mean = make.constant(DataType::float32, channels);
  // At most 0.8 / sqrt(0.5) times the input, and an epsilon that nobody can overlook.
  const double bound = 1.2 * (x->bound + 1) + 1;
  make.add(BatchNorm{make.one_of({0.1f, 1e-3f})},
           {x->id, scale, bias, mean, make.positive(channels)}, bound,
           1.2 * x->noise + 2 * kRounding * bound);
}

// A scale or shift by one constant a channel, or one for all, or (which must not be folded) one a
// row.
void add_scale_or_shift(GraphMaker& make) {
  const auto x = layer_result(make);
  if (!x) return;
  Dims dims(static_cast<size_t>(x->rank()), 1);
  const int64_t axis = make.one_in(4) ? x->rank() - 1 : 1;
  dims[static_cast<size_t>(axis)] = x->dims()[static_cast<size_t>(axis)];
  if (make.one_in(3)) dims.erase(dims.begin(), dims.begin() + axis);
  if (make.one_in(4)) dims = {1};
  const ValueId c = make.constant(DataType::float32, dims, 0.5f, 1.5f);
  const BinaryKind kind =
      make.one_of({BinaryKind::mul, BinaryKind::add, BinaryKind::sub, BinaryKind::div});
  const bool left = kind == BinaryKind::div || make.one_in(2);
  const double bound = 2 * x->bound + 2;
  make.add(Binary{kind}, left ? std::vector{x->id, c} : std::vector{c, x->id}, bound,
           2 * x->noise + 2 * kRounding * bound);
}

// Layer or RMS normalisation of the last dimension as exporters leave it. An epsilon of 0.1 bounds
// what a rounding error may become: the root is at least 0.31.
void add_norm_in_pieces(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) {
    return v.type.type == DataType::float32 && v.rank() >= 2 && v.bound <= 8;
  });
  if (!x) return;
  const double b = x->bound, noise = 2 * x->noise + 2 * kRounding * b, squares = 4 * b * b,
               of_squares = 4 * b * noise + kRounding * squares;
  const Reduce average{ReduceKind::mean, {-1}, true};
  ValueId last = x->id;
  const auto step = [&](const Op& op, const std::vector<ValueId>& inputs, double bound,
                        double own_noise) {
    const auto made = make.add(op, inputs, bound, own_noise);
    if (made.empty()) return false;
    last = made[0].id;
    return true;
  };
  if (make.one_in(2)) {
    if (!step(average, {last}, b, noise)) return;
    if (!step(Binary{BinaryKind::sub}, {x->id, last}, 2 * b, noise)) return;
  }
  const ValueId centred = last, epsilon = make.graph().add_constant(
                                    "epsilon", Tensor::of<float>({}, std::vector<float>{0.1f}));
  const bool done =
      step(Binary{BinaryKind::mul}, {centred, centred}, squares, of_squares) &&
      step(average, {last}, squares, of_squares) &&
      step(Binary{BinaryKind::add}, {last, epsilon}, squares + 1, of_squares) &&
      step(Unary{UnaryKind::sqrt}, {last}, 2 * b + 1, 2 * of_squares) &&
      step(Binary{BinaryKind::div}, {centred, last}, 7 * b, 4 * noise + 40 * b * of_squares);
  if (!done || make.one_in(3)) return;
  const ValueId scale = make.constant(DataType::float32, {x->dims().back()});
  step(Binary{BinaryKind::mul}, {last, scale}, 7 * b, 4 * noise + 40 * b * of_squares);
}

void add_softmax(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) { return v.floating() && v.rank() >= 1; });
  if (!x) return;
  make.add(Softmax{make.between(-x->rank(), x->rank() - 1)}, {x->id}, 1, 2 * x->noise);
}

void add_resize(GraphMaker& make) {
  const auto x = make.value_where(is_picture);
  if (!x) return;
  Resize op{make.one_of({ResizeMode::nearest, ResizeMode::linear}),
            make.one_of({ResizeCoordinates::half_pixel, ResizeCoordinates::pytorch_half_pixel,
                         ResizeCoordinates::asymmetric})};
  std::vector<int64_t> sizes = x->dims();
  Tensor scales(DataType::float32, {x->rank()});
  for (int64_t i = 0; i < x->rank(); ++i) {
    const int64_t grows = i < 2 ? 1 : make.between(1, 2);
    sizes[static_cast<size_t>(i)] *= grows;
    const bool fraction = i >= 2 && make.one_in(3);
    scales.mutable_data<float>()[static_cast<size_t>(i)] =
        static_cast<float>(grows) + (fraction ? 0.3f : 0.0f);
  }
  const std::vector<ValueId> inputs =
      make.one_in(2) ? std::vector<ValueId>{x->id, kNoValue, make.ints(sizes)}
                     : std::vector<ValueId>{x->id, make.graph().add_constant("scales", scales)};
  make.add(op, inputs, x->bound, x->noise);
}

// Indices follow from comparisons: exact values only.
void add_ordering(GraphMaker& make) {
  const auto x = make.value_where([](const Drawn& v) {
    return v.exact() && v.rank() >= 1 && v.type.type != DataType::boolean;
  });
  if (!x) return;
  const int64_t axis = make.between(-x->rank(), x->rank() - 1);
  const int64_t size = x->dims()[static_cast<size_t>(axis < 0 ? axis + x->rank() : axis)];
  if (make.one_in(2)) {
    const bool largest = make.one_in(2);
    make.add(ArgMinMax{largest, make.one_in(2), make.one_in(2), axis}, {x->id},
             static_cast<double>(size), 0);
  } else {
    const double bound = std::max(x->bound, static_cast<double>(size));
    make.add(TopK{axis, make.one_in(2)}, {x->id, make.ints({make.between(1, size)})}, bound, 0);
  }
}

constexpr NodeKind kLayers[] = {
    add_convolution,    add_convolution,    add_deconvolution,  add_pooling,
    add_pooling,        add_global_pooling, add_reduction,      add_gemm,
    add_matmul,         add_batch_norm,     add_batch_norm,     add_pad_before_window,
    add_scale_or_shift, add_scale_or_shift, add_scale_or_shift, add_softmax,
    add_norm_in_pieces, add_norm_in_pieces, add_resize,         add_ordering};

}  // namespace

std::span<const NodeKind> layer_kinds() {
  return kLayers;
}

}  // namespace enginery::test
