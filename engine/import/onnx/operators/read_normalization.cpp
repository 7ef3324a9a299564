// Normalisations and softmax. ONNX BatchNormalization-15, LRN-13, InstanceNormalization-6,
// LayerNormalization-17, GroupNormalization-21, MeanVarianceNormalization-13, LpNormalization-1,
// RMSNormalization-23, Softmax-13, LogSoftmax-13, Hardmax-13.
#include <algorithm>

#include "engine/import/onnx/onnx_types.h"
#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

// The training form computes its own statistics: over all but the channels, and mixes them into the
// running ones.
void read_batch_norm_of_batch(NodeReader& node) {
  const ValueId x = node.input(0), scale = node.input(1), shift = node.input(2);
  const float momentum = node.real("momentum", 0.9f);
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(x); ++d) {
    if (d != 1) axes.push_back(d);
  }
  Reduce average{ReduceKind::mean, axes, false};
  const ValueId mean = node.add(average, {x});
  const ValueId centred =
      node.add(Binary{BinaryKind::sub}, {x, per_channel(node, mean, node.rank(x))});
  const ValueId variance =
      node.add(average, {node.add(Binary{BinaryKind::mul}, {centred, centred})});
  const auto mixed = [&](ValueId running, ValueId current) {
    const auto part = [&](ValueId v, double share) {
      return node.add(Binary{BinaryKind::mul}, {v, node.number_constant(share, node.type(v))});
    };
    const double kept = static_cast<double>(momentum);
    return node.add(Binary{BinaryKind::add}, {part(running, kept), part(current, 1 - kept)});
  };
  const BatchNorm op{node.real("epsilon", 1e-5f)};
  node.result(node.add(op, {x, scale, shift, mean, variance}), 0);
  node.result(mixed(node.input(3), mean), 1);
  node.result(mixed(node.input(4), variance), 2);
}

void read_batch_norm(NodeReader& node) {
  if (node.integer("training_mode", 0) != 0) return read_batch_norm_of_batch(node);
  node.ignore({"momentum", "is_test", "consumed_inputs"});
  if (node.integer("spatial", 1) == 0)
    return node.refuse("attribute spatial=0 (statistics a pixel) is not supported");
  BatchNorm op{node.real("epsilon", 1e-5f)};
  node.result(op, {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)});
}

void read_lrn(NodeReader& node) {
  if (!node.has("size")) node.reject("attribute size is missing");
  Lrn op{node.integer("size", 5), node.real("alpha", 1e-4f), node.real("beta", 0.75f),
         node.real("bias", 1)};
  node.result(op, {node.input(0)});
}

void read_instance_norm(NodeReader& node) {
  node.ignore({"consumed_inputs"});
  node.result(InstanceNorm{node.real("epsilon", 1e-5f)},
              {node.input(0), node.input(1), node.input(2)});
}

// x normalised over `axes`, with its mean and 1 / standard deviation, each of x's rank.
struct Normalized {
  ValueId y, mean, inverse_deviation;
};
Normalized normalize(NodeReader& node, ValueId x, const std::vector<int64_t>& axes, float epsilon) {
  Reduce average{ReduceKind::mean, axes};
  const ValueId mean = node.add(average, {x});
  const ValueId centred = node.add(Binary{BinaryKind::sub}, {x, mean});
  const ValueId variance =
      node.add(average, {node.add(Binary{BinaryKind::mul}, {centred, centred})});
  ValueId shifted =
      node.add(Binary{BinaryKind::add}, {variance, node.number_constant(epsilon, node.type(x))});
  ValueId inverse =
      node.add(Unary{UnaryKind::reciprocal}, {node.add(Unary{UnaryKind::sqrt}, {shifted})});
  return {node.add(Binary{BinaryKind::mul}, {centred, inverse}), mean, inverse};
}

// The mean and 1 / standard deviation have the type `stash_type`, in which they are computed;
// float64's stay float64.
void read_layer_norm(NodeReader& node) {
  const auto stash = onnx_type(node.integer("stash_type", 1));
  if (!stash || !is_floating(*stash))
    return node.reject("attribute stash_type is no floating type");
  const ValueId x = node.input(0), scale = node.input(1), bias = node.optional_input(2);
  const int64_t axis = node.axis(node.integer("axis", -1), node.rank(x));
  const float epsilon = node.real("epsilon", 1e-5f);
  if (!node.has_output(1) && !node.has_output(2))
    return node.result(LayerNorm{axis, epsilon}, {x, scale, bias});
  std::vector<int64_t> axes;
  for (int64_t i = axis; i < node.rank(x); ++i) axes.push_back(i);
  const DataType type = node.type(x);
  const auto as = [&](DataType to, ValueId v) {
    return node.type(v) == to ? v : node.add(Cast{to}, {v});
  };
  const bool is_narrow = is_floating(type) && element_bytes(type) < 4;
  const Normalized n = normalize(node, is_narrow ? as(DataType::float32, x) : x, axes, epsilon);
  ValueId y = node.add(Binary{BinaryKind::mul}, {as(type, n.y), scale});
  if (bias != kNoValue) y = node.add(Binary{BinaryKind::add}, {y, bias});
  const DataType statistics = type == DataType::float64 ? type : *stash;
  node.result(y, 0);
  node.result(as(statistics, n.mean), 1);
  node.result(as(statistics, n.inverse_deviation), 2);
}

// Since operator set 21 scale and bias have one element for each channel; before, one for each
// group: an instance normalisation whose channels are the groups.
void read_group_norm(NodeReader& node) {
  node.ignore({"stash_type"});
  const ValueId x = node.input(0), scale = node.input(1), bias = node.input(2);
  const int64_t groups = node.integer("num_groups", 0),
                channels = node.size(x, 1, "the number of channels");
  if (!node.ok()) return;
  if (groups < 1 || channels % groups != 0)
    return node.reject("attribute num_groups does not divide the channels");
  const float epsilon = node.real("epsilon", 1e-5f);
  if (node.opset() >= 21) return node.result(GroupNorm{groups, epsilon}, {x, scale, bias});
  const ValueId grouped = node.add(Reshape{}, {x, node.ints_constant({0, groups, -1})});
  node.result(Reshape{},
              {node.add(InstanceNorm{epsilon}, {grouped, scale, bias}), same_shape(node, x)});
}

// The standard's function body: epsilon is added to the deviation, not to the variance.
void read_mean_variance_norm(NodeReader& node) {
  const ValueId x = node.input(0);
  Reduce average{ReduceKind::mean, node.integers("axes", {0, 2, 3})};
  const ValueId mean = node.add(average, {x});
  const ValueId centred = node.add(Binary{BinaryKind::sub}, {x, mean});
  const ValueId variance =
      node.add(average, {node.add(Binary{BinaryKind::mul}, {centred, centred})});
  const ValueId deviation = node.add(Unary{UnaryKind::sqrt}, {variance});
  ValueId divisor =
      node.add(Binary{BinaryKind::add}, {deviation, node.number_constant(1e-9, node.type(x))});
  node.result(Binary{BinaryKind::div}, {centred, divisor});
}

void read_lp_norm(NodeReader& node) {
  const ValueId x = node.input(0);
  int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2)
    return node.refuse("attribute p=" + std::to_string(p) + " is not supported");
  Reduce length{p == 1 ? ReduceKind::l1 : ReduceKind::l2,
                {node.axis(node.integer("axis", -1), node.rank(x))}};
  // Zeros stay zeros, as in ONNX Runtime.
  node.result(Binary{BinaryKind::div}, {x, or_where_zero(node, node.add(length, {x}), 1)});
}

// Before operator set 13 softmax and its kin saw a matrix: the dimensions before `axis` by those
// from it on.
struct SoftmaxShape {
  int64_t axis = -1;
  bool as_matrix = false;
};
SoftmaxShape read_softmax_shape(NodeReader& node, ValueId x) {
  int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
  // Operator sets before 11 allow axis 1 of a vector's default.
  if (node.opset() < 13 && !node.has("axis") && node.rank(x) == 1) axis = 0;
  axis = node.axis(axis, node.rank(x));
  if (node.opset() >= 13) return {axis, false};
  const Dims& dims = node.dims(x);
  const bool alone = std::all_of(dims.begin() + std::min<int64_t>(axis + 1, node.rank(x)),
                                 dims.end(), [](int64_t d) { return d == 1; });
  return {axis, !alone};
}

template <bool log>
void read_softmax(NodeReader& node) {
  const ValueId x = node.input(0);
  SoftmaxShape shape = read_softmax_shape(node, x);
  if (!shape.as_matrix) return node.result(Softmax{shape.axis, log}, {x});
  const ValueId matrix = node.add(Flatten{shape.axis}, {x});
  node.result(Reshape{}, {node.add(Softmax{1, log}, {matrix}), same_shape(node, x)});
}

// 1 at the first largest element along the axis, 0 elsewhere.
ValueId hardmax(NodeReader& node, ValueId x, int64_t axis) {
  const int64_t n = node.size(x, axis, "the size along the axis");
  ArgMinMax best;
  best.axis = axis;
  std::vector<int64_t> shape(static_cast<size_t>(node.rank(x)), 1);
  if (node.ok()) shape[static_cast<size_t>(axis)] = n;
  const ValueId positions = node.add(Reshape{}, {counting(node, n), node.ints_constant(shape)});
  return node.add(Cast{node.type(x)},
                  {node.add(Binary{BinaryKind::equal}, {positions, node.add(best, {x})})});
}

void read_hardmax(NodeReader& node) {
  const ValueId x = node.input(0);
  SoftmaxShape shape = read_softmax_shape(node, x);
  if (!shape.as_matrix) return node.result(hardmax(node, x, shape.axis));
  const ValueId matrix = node.add(Flatten{shape.axis}, {x});
  node.result(Reshape{}, {hardmax(node, matrix, 1), same_shape(node, x)});
}

// SimplifiedLayerNormalization is ONNX Runtime's name for it, in ONNX's own domain.
void read_rms_norm(NodeReader& node) {
  const auto stash = onnx_type(node.integer("stash_type", 1));
  if (!stash || !is_floating(*stash))
    return node.reject("attribute stash_type is no floating type");
  node.result(rms_normalized(node, node.input(0), node.input(1), node.integer("axis", -1),
                             node.real("epsilon", 1e-5f), *stash));
}

constexpr OperatorReader kNormalizationReaders[] = {
    {"BatchNormalization", read_batch_norm},
    {"LRN", read_lrn},
    {"InstanceNormalization", read_instance_norm},
    {"LayerNormalization", read_layer_norm},
    {"GroupNormalization", read_group_norm},
    {"RMSNormalization", read_rms_norm},
    {"SimplifiedLayerNormalization", read_rms_norm},
    {"MeanVarianceNormalization", read_mean_variance_norm},
    {"LpNormalization", read_lp_norm},
    {"Softmax", read_softmax<false>},
    {"LogSoftmax", read_softmax<true>},
    {"Hardmax", read_hardmax},
};

}  // namespace

std::span<const OperatorReader> normalization_readers() {
  return kNormalizationReaders;
}

}  // namespace enginery
