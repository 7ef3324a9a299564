// Resizing. ONNX Resize-19, Upsample-9.
#include <algorithm>
#include <cmath>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"

namespace enginery {
namespace {

ResizeMode read_mode(NodeReader& node) {
  const std::string mode = node.text("mode", "nearest");
  if (mode == "linear" || mode == "bilinear") return ResizeMode::linear;
  if (mode == "cubic") return ResizeMode::cubic;
  if (mode != "nearest") node.reject("attribute mode is '" + printable(mode) + "'");
  return ResizeMode::nearest;
}

ResizeCoordinates read_coordinates(NodeReader& node) {
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  if (mode == "half_pixel") return ResizeCoordinates::half_pixel;
  if (mode == "pytorch_half_pixel") return ResizeCoordinates::pytorch_half_pixel;
  if (mode == "align_corners") return ResizeCoordinates::align_corners;
  if (mode == "asymmetric") return ResizeCoordinates::asymmetric;
  if (mode == "half_pixel_symmetric") return ResizeCoordinates::half_pixel_symmetric;
  if (mode == "tf_crop_and_resize") return ResizeCoordinates::crop;
  node.refuse("attribute coordinate_transformation_mode=" + printable(mode) + " is not supported");
  return ResizeCoordinates::half_pixel;
}

ResizeRounding read_rounding(NodeReader& node) {
  const std::string mode = node.text("nearest_mode", "round_prefer_floor");
  if (mode == "round_prefer_ceil") return ResizeRounding::round_prefer_ceil;
  if (mode == "floor") return ResizeRounding::floor;
  if (mode == "ceil") return ResizeRounding::ceil;
  if (mode != "round_prefer_floor")
    node.reject("attribute nearest_mode is '" + printable(mode) + "'");
  return ResizeRounding::round_prefer_floor;
}

// An absent optional input is often written as an empty tensor.
ValueId unless_empty(NodeReader& node, size_t index) {
  const ValueId v = node.optional_input(index);
  return v != kNoValue && node.dims(v) == Dims{0} ? kNoValue : v;
}

// Numbers that belong to `axes`, spread over all dimensions: element i of the constant goes to
// axes[i] of `all`.
void spread(NodeReader& node, ValueId v, size_t first, const std::vector<int64_t>& axes,
            std::span<float> all) {
  const Tensor* given = node.constant(v);
  if (!given) return node.refuse("scales or region of some axes are known only at run time");
  const Tensor narrow = convert(*given, DataType::float32);
  if (static_cast<size_t>(narrow.size()) < first + axes.size())
    return node.reject("axes and their scales or region differ in length");
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = static_cast<size_t>(node.axis(axes[i], static_cast<int64_t>(all.size())));
    if (node.ok()) all[axis] = narrow.data<float>()[first + i];
  }
}

ValueId floats_constant(NodeReader& node, const std::vector<float>& values) {
  return node.ok() ? node.constant(Tensor::of<float>({static_cast<int64_t>(values.size())}, values))
                   : kNoValue;
}

ValueId spread_scales(NodeReader& node, ValueId scales, int64_t rank,
                      const std::vector<int64_t>& axes) {
  std::vector<float> all(static_cast<size_t>(rank), 1.0f);
  spread(node, scales, 0, axes, all);
  return floats_constant(node, all);
}

// A region is begins, then ends.
ValueId spread_region(NodeReader& node, ValueId region, int64_t rank,
                      const std::vector<int64_t>& axes) {
  const size_t n = static_cast<size_t>(rank);
  std::vector<float> all(2 * n, 0.0f);
  std::fill(all.begin() + static_cast<ptrdiff_t>(n), all.end(), 1.0f);
  spread(node, region, 0, axes, std::span(all).first(n));
  spread(node, region, axes.size(), axes, std::span(all).last(n));
  return floats_constant(node, all);
}

ValueId spread_sizes(NodeReader& node, ValueId x, ValueId sizes, const std::vector<int64_t>& axes) {
  const std::vector<int64_t> given = node.ints(sizes, "the sizes of some axes");
  std::vector<int64_t> all = node.dims(x);
  if (node.ok() && given.size() != axes.size()) node.reject("sizes and axes differ in length");
  for (size_t i = 0; i < axes.size() && node.ok(); ++i)
    all[static_cast<size_t>(node.axis(axes[i], node.rank(x)))] = given[i];
  for (int64_t i = 0; i < node.rank(x); ++i) {
    if (all[static_cast<size_t>(i)] < 0) node.size(x, i, "the size of an axis that is not resized");
  }
  return node.ints_constant(all);
}

// keep_aspect_ratio_policy: one factor for all axes, the smallest or largest of what the sizes ask
// for.
ValueId common_scales(NodeReader& node, ValueId x, ValueId sizes, std::vector<int64_t> axes,
                      const std::string& policy) {
  std::vector<int64_t> given =
      node.ints(sizes, "the sizes of a resize that keeps the aspect ratio");
  for (int64_t i = 0; axes.empty() && i < node.rank(x); ++i) axes.push_back(i);
  if (node.ok() && given.size() != axes.size()) node.reject("sizes and axes differ in length");
  std::vector<float> scales(static_cast<size_t>(node.rank(x)), 1.0f);
  std::vector<double> factors;
  for (size_t i = 0; i < axes.size() && node.ok(); ++i) {
    axes[i] = node.axis(axes[i], node.rank(x));
    const int64_t size = node.size(x, axes[i], "the size of an axis that is resized");
    factors.push_back(static_cast<double>(given[i]) /
                      static_cast<double>(std::max<int64_t>(size, 1)));
  }
  if (!node.ok()) return kNoValue;
  const double factor = policy == "not_larger" ? *std::min_element(factors.begin(), factors.end())
                                               : *std::max_element(factors.begin(), factors.end());
  for (const int64_t axis : axes) {
    const double size = static_cast<double>(node.size(x, axis, "the size"));
    // The standard rounds the new size, Resize by scales cuts it off: where they differ we would be
    // one off.
    if (std::floor(size * static_cast<float>(factor)) != std::floor(size * factor + 0.5)) {
      node.refuse("attribute keep_aspect_ratio_policy=" + printable(policy) +
                  " gives a fractional size");
      return kNoValue;
    }
    scales[static_cast<size_t>(axis)] = static_cast<float>(factor);
  }
  return floats_constant(node, scales);
}

Resize read_attributes(NodeReader& node) {
  Resize op{read_mode(node), read_coordinates(node), read_rounding(node)};
  op.cubic_coefficient = node.real("cubic_coeff_a", -0.75f);
  op.exclude_outside = node.integer("exclude_outside", 0) != 0;
  op.antialias = node.integer("antialias", 0) != 0;
  op.extrapolation = node.real("extrapolation_value", 0);
  return op;
}

// Before operator set 11 the nearest element is the one below where a dimension grows, and the one
// above where it shrinks. (ONNX Runtime; ONNX's own test resize_downsample_nearest of set 10)
ResizeRounding old_rounding(NodeReader& node, ValueId scales) {
  const Tensor* constant = node.constant(scales);
  if (!constant || !is_floating(constant->type())) return ResizeRounding::floor;
  const Tensor values = convert(*constant, DataType::float32);
  const auto shrinks = [](float s) { return s < 1; };
  const auto grows = [](float s) { return s > 1; };
  if (!std::ranges::any_of(values.data<float>(), shrinks)) return ResizeRounding::floor;
  if (std::ranges::any_of(values.data<float>(), grows))
    node.refuse("a resize that makes one dimension larger and another one smaller");
  return ResizeRounding::ceil;
}

void read_resize(NodeReader& node) {
  const ValueId x = node.input(0);
  if (node.opset() < 11) {
    Resize op{read_mode(node), ResizeCoordinates::asymmetric, ResizeRounding::floor};
    if (op.mode == ResizeMode::nearest) op.rounding = old_rounding(node, node.input(1));
    return node.result(op, {x, node.input(1)});
  }
  Resize op = read_attributes(node);
  ValueId region = unless_empty(node, 1), scales = unless_empty(node, 2),
          sizes = as_int64(node, unless_empty(node, 3));
  if (op.coordinates != ResizeCoordinates::crop) region = kNoValue;
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    node.reject("attribute keep_aspect_ratio_policy");
  if ((scales == kNoValue) == (sizes == kNoValue))
    return node.reject("one of scales and sizes is expected");
  const std::vector<int64_t> axes = node.integers("axes");
  if (!axes.empty() && region != kNoValue) region = spread_region(node, region, node.rank(x), axes);
  if (sizes != kNoValue && policy != "stretch") {
    scales = common_scales(node, x, sizes, axes, policy);
    sizes = kNoValue;
  } else if (!axes.empty()) {
    if (scales != kNoValue) scales = spread_scales(node, scales, node.rank(x), axes);
    if (sizes != kNoValue) sizes = spread_sizes(node, x, sizes, axes);
  }
  node.result(op, {x, scales, sizes, region});
}

void read_upsample(NodeReader& node) {
  ValueId x = node.input(0), scales = node.optional_input(1);
  if (scales == kNoValue) {
    const AttributeValue* attribute = node.any("scales");
    const auto* values = attribute ? std::get_if<std::vector<float>>(attribute) : nullptr;
    if (!values) return node.reject("the scales are missing");
    scales = floats_constant(node, *values);
  }
  Resize op{read_mode(node), ResizeCoordinates::asymmetric, ResizeRounding::floor};
  node.result(op, {x, scales});
}

constexpr OperatorReader kResizeReaders[] = {
    {"Resize", read_resize},
    {"Upsample", read_upsample},
};

}  // namespace

std::span<const OperatorReader> resize_readers() {
  return kResizeReaders;
}

}  // namespace enginery
