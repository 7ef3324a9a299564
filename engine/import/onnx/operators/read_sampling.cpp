// Pictures read between their pixels. ONNX GridSample-22, RoiAlign-22, AffineGrid-20.
#include <algorithm>

#include "engine/import/onnx/operators/read_helpers.h"
#include "engine/import/onnx/operators/readers.h"
#include "engine/import/onnx/operators/sampling.h"

namespace enginery {
namespace {

enum class Sampling { linear, nearest, cubic };
enum class Outside { zeros, border, reflection };

// How GridSample reads a dimension.
struct GridForm {
  Sampling sampling = Sampling::linear;
  Outside outside = Outside::zeros;
  bool align_corners = false;
};

GridForm read_grid_form(NodeReader& node) {
  GridForm form;
  const std::string mode = node.text("mode", "linear"),
                    padding = node.text("padding_mode", "zeros");
  form.align_corners = node.integer("align_corners", 0) != 0;
  if (mode == "nearest")
    form.sampling = Sampling::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    form.sampling = Sampling::cubic;
  else if (mode != "linear" && mode != "bilinear")
    node.reject("attribute mode is '" + printable(mode) + "'");
  if (padding == "border")
    form.outside = Outside::border;
  else if (padding == "reflection")
    form.outside = Outside::reflection;
  else if (padding != "zeros")
    node.reject("attribute padding_mode is '" + printable(padding) + "'");
  return form;
}

// x mirrored at the ends of [low, high] as often as it takes.
ValueId reflect(NodeReader& node, ValueId x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return plus(node, times(node, x, 0), low);
  const ValueId distance = node.add(Unary{UnaryKind::abs}, {plus(node, x, -low)});
  const ValueId turn =
      node.add(Binary{BinaryKind::fmod}, {distance, node.number_constant(2 * range, node.type(x))});
  const ValueId back = plus(node, times(node, turn, -1), 2 * range);
  return plus(node, node.add(Binary{BinaryKind::min}, {turn, back}), low);
}

// An integer position (floating type) as a tap.
Tap place_tap(NodeReader& node, const GridForm& form, ValueId at, int64_t size) {
  const double low = form.align_corners ? 0 : -0.5;
  if (form.outside == Outside::reflection)
    at = reflect(node, at, low, static_cast<double>(size - 1) - low);
  const ValueId index = node.add(Cast{DataType::int64}, {at});
  Tap tap{clamp_index(node, index, size)};
  if (form.outside == Outside::zeros) tap.inside = is_within(node, index, 0, size);
  return tap;
}

// Keys' cubic with a = -0.75 at the distance x: `near` for x below 1, else for x from 1 to 2.
ValueId cubic_weight(NodeReader& node, ValueId x, bool near) {
  constexpr double a = -0.75;
  const auto multiply = [&](ValueId u) { return node.add(Binary{BinaryKind::mul}, {u, x}); };
  if (near) return plus(node, multiply(multiply(plus(node, times(node, x, a + 2), -(a + 3)))), 1);
  const ValueId square = plus(node, multiply(plus(node, times(node, x, a), -5 * a)), 8 * a);
  return plus(node, multiply(square), -4 * a);
}

// The taps of the coordinates g in [-1, 1] along a dimension of `size`.
std::vector<Tap> grid_taps(NodeReader& node, const GridForm& form, ValueId g, int64_t size) {
  const double half = static_cast<double>(form.align_corners ? size - 1 : size) / 2;
  const double low = form.align_corners ? 0 : -0.5;
  ValueId x = plus(node, times(node, g, half), half + low);
  if (form.sampling == Sampling::nearest) x = node.add(Unary{UnaryKind::round}, {x});
  if (form.outside == Outside::reflection)
    x = reflect(node, x, low, static_cast<double>(size - 1) - low);
  // Cubic sampling clamps the elements that it reads instead, as ONNX Runtime does.
  if (form.outside == Outside::border && form.sampling != Sampling::cubic)
    x = node.add(Activation{ActivationKind::clip, 0, static_cast<float>(size - 1)}, {x});
  if (form.sampling == Sampling::nearest) return {place_tap(node, form, x, size)};
  const ValueId base = node.add(Unary{UnaryKind::floor}, {x});
  const ValueId t = node.add(Binary{BinaryKind::sub}, {x, base});
  const ValueId rest = plus(node, times(node, t, -1), 1);
  std::vector<Tap> taps;
  const auto add = [&](double offset, ValueId weight) {
    taps.push_back(place_tap(node, form, plus(node, base, offset), size));
    taps.back().weight = weight;
  };
  if (form.sampling == Sampling::linear) {
    add(0, rest);
    add(1, t);
    return taps;
  }
  add(-1, cubic_weight(node, plus(node, t, 1), false));
  add(0, cubic_weight(node, t, true));
  add(1, cubic_weight(node, rest, true));
  add(2, cubic_weight(node, plus(node, rest, 1), false));
  return taps;
}

ValueId to_type(NodeReader& node, DataType type, ValueId v) {
  return node.type(v) == type ? v : node.add(Cast{type}, {v});
}

// [batch, channels, sizes...] -> [batch, pixels, channels].
ValueId pixels_first(NodeReader& node, ValueId x, const std::vector<int64_t>& sizes) {
  int64_t pixels = 1;
  for (const int64_t size : sizes) pixels *= size;
  const int64_t channels = node.size(x, 1, "the number of channels");
  const ValueId flat = node.add(Reshape{}, {x, node.ints_constant({0, channels, pixels})});
  return node.add(Transpose{{0, 2, 1}}, {flat});
}

std::vector<int64_t> spatial_sizes(NodeReader& node, ValueId x) {
  std::vector<int64_t> sizes;
  for (int64_t d = 2; d < node.rank(x); ++d) sizes.push_back(node.size(x, d, "the picture's size"));
  if (node.ok() && (sizes.empty() || std::ranges::count(sizes, 0) > 0))
    node.refuse("a picture without pixels is not supported");
  return sizes;
}

void read_grid_sample(NodeReader& node) {
  const ValueId x = node.input(0);
  const ValueId given = node.input(1);
  const GridForm form = read_grid_form(node);
  const auto sizes = spatial_sizes(node, x);
  const int64_t dims = static_cast<int64_t>(sizes.size());
  if (node.ok() && (node.rank(given) != dims + 2 || dims > 3))
    return node.reject("the grid does not fit the picture's dimensions");
  if (form.sampling == Sampling::cubic && dims != 2)
    return node.refuse("cubic sampling of other than two dimensions is not supported");
  std::vector<int64_t> shape{0};
  for (int64_t d = 1; d <= dims; ++d) shape.push_back(node.size(given, d, "the grid's size"));
  const DataType type = node.type(x);
  const DataType work = type == DataType::float64 ? type : DataType::float32;
  const ValueId grid =
      node.add(Reshape{}, {to_type(node, work, given), node.ints_constant({0, -1, dims})});
  std::vector<std::vector<Tap>> taps;
  for (int64_t d = 0; d < dims; ++d) {
    const ValueId g =
        node.add(Gather{2}, {grid, node.constant(Tensor::scalar(int64_t{dims - 1 - d}))});
    taps.push_back(grid_taps(node, form, g, sizes[static_cast<size_t>(d)]));
  }
  if (!node.ok()) return;
  const ValueId flat = to_type(node, work, pixels_first(node, x, sizes));
  const ValueId values = interpolate(node, flat, 1, taps, pixel_strides(sizes));
  shape.push_back(node.size(x, 1, "the number of channels"));
  std::vector<int64_t> order{0, dims + 1};
  for (int64_t d = 1; d <= dims; ++d) order.push_back(d);
  const ValueId y =
      node.add(Transpose{order}, {node.add(Reshape{}, {values, node.ints_constant(shape)})});
  node.result(to_type(node, type, y));
}

constexpr int64_t kMaxRegionBins = 1024;

// One direction of a region: where its samples lie, [regions, bins * samples].
struct RoiForm {
  int64_t samples = 0;
  float scale = 1;
  bool half_pixel = false;
};
ValueId roi_samples(NodeReader& node, const RoiForm& form, ValueId rois, int64_t axis,
                    int64_t bins) {
  const double offset = form.half_pixel ? -0.5 : 0;
  const auto edge = [&](int64_t column) {
    const ValueId v =
        node.add(Slice{}, {rois, node.ints_constant({column}), node.ints_constant({column + 1}),
                           node.ints_constant({1})});
    return plus(node, times(node, v, static_cast<double>(form.scale)), offset);
  };
  const ValueId start = edge(axis), end = edge(axis + 2);
  ValueId extent = node.add(Binary{BinaryKind::sub}, {end, start});
  if (!form.half_pixel)
    extent =
        node.add(Binary{BinaryKind::max}, {extent, node.number_constant(1, node.type(extent))});
  std::vector<double> places;
  for (int64_t i = 0; i < bins * form.samples; ++i)
    places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins * form.samples));
  const ValueId row = node.constant(convert(
      Tensor::of<double>({1, static_cast<int64_t>(places.size())}, places), node.type(rois)));
  return node.add(Binary{BinaryKind::add},
                  {start, node.add(Binary{BinaryKind::mul}, {extent, row})});
}

// Neighbours within the picture; nothing for samples more than one pixel outside.
std::vector<Tap> roi_taps(NodeReader& node, ValueId x, int64_t size) {
  const auto number = [&](double v) { return node.number_constant(v, node.type(x)); };
  const ValueId far_low = node.add(Binary{BinaryKind::greater_equal}, {x, number(-1)});
  const ValueId far_high =
      node.add(Binary{BinaryKind::less_equal}, {x, number(static_cast<double>(size))});
  const ValueId inside = node.add(Binary{BinaryKind::logical_and}, {far_low, far_high});
  const ValueId least = node.add(Binary{BinaryKind::max}, {x, number(0)});
  const ValueId clamped =
      node.add(Binary{BinaryKind::min}, {least, number(static_cast<double>(size - 1))});
  auto taps = linear_taps(node, clamped, size);
  for (Tap& tap : taps) tap.inside = inside;
  return taps;
}

void unsqueeze_taps(NodeReader& node, std::vector<Tap>& taps, int64_t axis) {
  const auto wide = [&](ValueId v) {
    return node.add(Unsqueeze{}, {v, node.ints_constant({axis})});
  };
  for (Tap& tap : taps) tap = {wide(tap.index), wide(tap.weight), wide(tap.inside)};
}

// ONNX's maximum is over the weighted neighbours of all samples, not over the samples.
ValueId roi_values(NodeReader& node, ValueId flat, const std::vector<std::vector<Tap>>& taps,
                   const std::vector<int64_t>& strides, bool is_max) {
  if (!is_max) return interpolate(node, flat, 0, taps, strides);
  ValueId most = kNoValue;
  for (const Tap& image : taps[0]) {
    for (const Tap& y : taps[1]) {
      for (const Tap& x : taps[2]) {
        const ValueId v = interpolate(node, flat, 0, {{image}, {y}, {x}}, strides);
        most = most == kNoValue ? v : node.add(Binary{BinaryKind::max}, {most, v});
      }
    }
  }
  return most;
}

void read_roi_align(NodeReader& node) {
  const ValueId x = node.input(0), rois = node.input(1), images = as_int64(node, node.input(2));
  const auto sizes = spatial_sizes(node, x);
  const int64_t rows = node.integer("output_height", 1), columns = node.integer("output_width", 1);
  const std::string mode = node.text("mode", "avg");
  RoiForm form{node.integer("sampling_ratio", 0), node.real("spatial_scale", 1)};
  form.half_pixel =
      node.text("coordinate_transformation_mode",
                node.opset() < 16 ? "output_half_pixel" : "half_pixel") == "half_pixel";
  if (mode != "avg" && mode != "max") node.reject("attribute mode is '" + printable(mode) + "'");
  if (form.samples == 0)
    node.refuse("attribute sampling_ratio=0: the number of samples depends on the regions");
  if (node.ok() && (sizes.size() != 2 || rows < 1 || columns < 1 || rows > kMaxRegionBins ||
                    columns > kMaxRegionBins || form.samples < 0 || form.samples > 64))
    return node.reject("the picture, the output's size or sampling_ratio is out of range");
  if (!node.ok()) return;
  std::vector<std::vector<Tap>> taps{
      {Tap{node.add(Unsqueeze{}, {images, node.ints_constant({1, 2})})}},
      roi_taps(node, roi_samples(node, form, rois, 1, rows), sizes[0]),
      roi_taps(node, roi_samples(node, form, rois, 0, columns), sizes[1])};
  unsqueeze_taps(node, taps[1], 2);
  unsqueeze_taps(node, taps[2], 1);
  const int64_t channels = node.size(x, 1, "the number of channels");
  const ValueId flat =
      node.add(Reshape{}, {pixels_first(node, x, sizes), node.ints_constant({-1, channels})});
  const ValueId values =
      roi_values(node, flat, taps, {sizes[0] * sizes[1], sizes[1], 1}, mode == "max");
  const ValueId bins = node.add(
      Reshape{},
      {values, node.ints_constant({-1, rows, form.samples, columns, form.samples, channels})});
  const Reduce over{mode == "max" ? ReduceKind::max : ReduceKind::mean, {2, 4}, false};
  node.result(Transpose{{0, 3, 1, 2}}, {node.add(over, {bins})});
}

// The grid's places along one dimension, from -1 to 1.
std::vector<double> grid_places(int64_t size, bool align_corners) {
  std::vector<double> places;
  const double n = static_cast<double>(size);
  for (int64_t i = 0; i < size; ++i) {
    const double at = static_cast<double>(i);
    places.push_back(align_corners ? (size == 1 ? -1 : 2 * at / (n - 1) - 1)
                                   : (2 * at + 1) / n - 1);
  }
  return places;
}

constexpr int64_t kMaxGrid = int64_t{1} << 22;

// theta times the constant grid [x, y, (z,) 1].
void read_affine_grid(NodeReader& node) {
  const ValueId theta = node.input(0);
  const auto size = node.ints(node.input(1), "the grid's size");
  const bool align_corners = node.integer("align_corners", 0) != 0;
  if (node.ok() && size.size() != 4 && size.size() != 5)
    return node.reject("the grid's size has not 4 or 5 elements");
  if (!node.ok()) return;
  const std::vector<int64_t> spatial(size.begin() + 2, size.end());
  int64_t points = 1;
  for (const int64_t n : spatial) {
    if (n < 1 || n > kMaxGrid || (points *= n) > kMaxGrid)
      return node.refuse("a grid of this size is not supported");
  }
  const size_t dims = spatial.size();
  std::vector<double> grid(static_cast<size_t>(points) * (dims + 1), 1);
  const auto strides = pixel_strides(spatial);
  for (size_t d = 0; d < dims; ++d) {
    const auto places = grid_places(spatial[d], align_corners);
    for (int64_t p = 0; p < points; ++p)
      grid[static_cast<size_t>(p) * (dims + 1) + dims - 1 - d] =
          places[static_cast<size_t>(p / strides[d] % spatial[d])];
  }
  const ValueId constant = node.constant(convert(
      Tensor::of<double>({points, static_cast<int64_t>(dims) + 1}, grid), node.type(theta)));
  const ValueId placed = node.add(MatMul{}, {constant, node.add(Transpose{{0, 2, 1}}, {theta})});
  std::vector<int64_t> shape{0};
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  shape.push_back(static_cast<int64_t>(dims));
  node.result(Reshape{}, {placed, node.ints_constant(shape)});
}

constexpr OperatorReader kSamplingReaders[] = {
    {"GridSample", read_grid_sample},
    {"RoiAlign", read_roi_align},
    {"AffineGrid", read_affine_grid},
};

}  // namespace

std::span<const OperatorReader> sampling_readers() {
  return kSamplingReaders;
}

}  // namespace enginery
