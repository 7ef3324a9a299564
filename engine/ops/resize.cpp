// One dimension after the other, each output element a weighted sum of a few input elements.
#include "engine/ops/resize.h"

#include <algorithm>
#include <cmath>

#include "engine/ops/support.h"

namespace enginery {
namespace {

constexpr std::string_view kModes[] = {"nearest", "linear", "cubic"};
constexpr std::string_view kCoordinates[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                             "asymmetric", "half_pixel_symmetric", "crop"};
constexpr std::string_view kRoundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil"};
constexpr float kMaxResized = static_cast<float>(int64_t{1} << 40);

float source_position(ResizeCoordinates rule, const ResizeDim& d, int64_t o) {
  const float x = static_cast<float>(o);
  switch (rule) {
    case ResizeCoordinates::half_pixel:
      return (x + 0.5f) / d.scale - 0.5f;
    case ResizeCoordinates::pytorch_half_pixel:
      return d.out > 1 ? (x + 0.5f) / d.scale - 0.5f : 0;
    case ResizeCoordinates::align_corners:
      return d.out > 1 ? x * static_cast<float>(d.in - 1) / static_cast<float>(d.out - 1) : 0;
    case ResizeCoordinates::asymmetric:
      return x / d.scale;
    case ResizeCoordinates::half_pixel_symmetric: {
      // The output's centre stays on the input's, whatever rounding the output's size cut off.
      const float in = static_cast<float>(d.in), kept = static_cast<float>(d.out) / (in * d.scale);
      return in / 2 * (1 - kept) + (x + 0.5f) / d.scale - 0.5f;
    }
    case ResizeCoordinates::crop: {
      const float last = static_cast<float>(d.in - 1);
      if (d.out == 1) return 0.5f * (d.begin + d.end) * last;
      return d.begin * last + x * (d.end - d.begin) * last / static_cast<float>(d.out - 1);
    }
  }
  return 0;
}

int64_t nearest(ResizeRounding rule, float x) {
  switch (rule) {
    case ResizeRounding::round_prefer_floor:
      return static_cast<int64_t>(std::ceil(x - 0.5f));
    case ResizeRounding::round_prefer_ceil:
      return static_cast<int64_t>(std::floor(x + 0.5f));
    case ResizeRounding::floor:
      return static_cast<int64_t>(std::floor(x));
    case ResizeRounding::ceil:
      return static_cast<int64_t>(std::ceil(x));
  }
  return 0;
}

// Keys, "Cubic convolution interpolation for digital image processing" (1981), with coefficient a.
double cubic_weight(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double kernel_weight(const Resize& op, double distance) {
  if (op.mode == ResizeMode::cubic) return cubic_weight(distance, op.cubic_coefficient);
  return std::max(0.0, 1 - std::abs(distance));
}

SampleTaps taps_of(const Resize& op, const ResizeDim& d, int64_t o) {
  const float position = source_position(op.coordinates, d, o);
  if (op.coordinates == ResizeCoordinates::crop &&
      !(position >= 0 && position <= static_cast<float>(d.in - 1))) {
    return {{}, true};
  }
  const auto inside = [&](int64_t i) { return std::clamp<int64_t>(i, 0, d.in - 1); };
  if (op.mode == ResizeMode::nearest) return {{{inside(nearest(op.rounding, position)), 1}}};
  const double shrink = op.antialias ? std::min<double>(1, d.scale) : 1;
  const double reach = (op.mode == ResizeMode::cubic ? 2 : 1) / shrink;
  const int64_t base = static_cast<int64_t>(std::floor(position)),
                first = static_cast<int64_t>(std::floor(-reach)) + 1;
  const double fraction = static_cast<double>(position) - static_cast<double>(base);
  SampleTaps result;
  double sum = 0;
  for (int64_t i = first; i < 2 - first; ++i) {
    const int64_t at = base + i;
    if (op.exclude_outside && at != inside(at)) continue;
    result.taps.push_back(
        {inside(at), kernel_weight(op, (fraction - static_cast<double>(i)) * shrink)});
    sum += result.taps.back().weight;
  }
  if (op.exclude_outside || op.antialias) {
    for (SampleTap& t : result.taps) t.weight /= sum;
  }
  return result;
}

// x seen as [outer, in, inner] -> [outer, out, inner].
template <typename T, typename F>
std::vector<T> resample(const std::vector<T>& x, int64_t inner, const ResizeDim& d, F&& mix) {
  const int64_t outer = static_cast<int64_t>(x.size()) / (d.in * inner);
  std::vector<T> y(static_cast<size_t>(outer * d.out * inner));
  for (int64_t n = 0; n < outer; ++n) {
    for (int64_t o = 0; o < d.out; ++o) {
      T* row = y.data() + (n * d.out + o) * inner;
      mix(x.data() + n * d.in * inner, o, row);
    }
  }
  return y;
}

template <typename T>
std::vector<T> resample_nearest(const Resize& op, const std::vector<T>& x, int64_t inner,
                                const ResizeDim& d) {
  const std::vector<SampleTaps> all = resize_taps(op, d);
  return resample(x, inner, d, [&](const T* plane, int64_t o, T* row) {
    std::copy_n(plane + all[static_cast<size_t>(o)].taps[0].at * inner, inner, row);
  });
}

std::vector<double> resample_weighted(const Resize& op, const std::vector<double>& x, int64_t inner,
                                      const ResizeDim& d) {
  const std::vector<SampleTaps> all = resize_taps(op, d);
  return resample(x, inner, d, [&](const double* plane, int64_t o, double* row) {
    const SampleTaps& taps = all[static_cast<size_t>(o)];
    if (taps.outside) std::fill_n(row, inner, op.extrapolation);
    for (const SampleTap& t : taps.taps) {
      for (int64_t i = 0; i < inner; ++i) row[i] += t.weight * plane[t.at * inner + i];
    }
  });
}

bool is_unchanged(const ResizeDim& d) {
  return d.in == d.out && d.scale == 1 && d.begin == 0 && d.end == 1;
}

// Scales count when there are any; an empty tensor is the old form of an absent input.
bool has_scales(Operands in) {
  return has(in, 1) && !(in[1].type.dims == Dims{0});
}
bool has_sizes(Operands in) {
  return has(in, 2) && !(in[2].type.dims == Dims{0});
}

Result<int64_t> scaled_size(int64_t in, float scale) {
  if (!(scale > 0) || !std::isfinite(scale)) {
    return rule_error(Resize::kName, "expected scales above 0, got " + float_text(scale));
  }
  if (in < 0) return scale == 1 ? in : kDynamic;
  const float out = std::floor(static_cast<float>(in) * scale);
  if (out > kMaxResized)
    return rule_error(Resize::kName,
                      "a scale of " + float_text(scale) + " gives more than 2^40 elements");
  return static_cast<int64_t>(out);
}

std::vector<ResizeDim> dims_of(const Resize& op, ReferenceInputs in, const Tensor& out) {
  const Tensor *scales = given(in, 1),
               *region = op.coordinates == ResizeCoordinates::crop ? given(in, 3) : nullptr;
  const bool scaled = scales && scales->size() > 0;
  std::vector<ResizeDim> dims;
  for (size_t i = 0; i < out.dims().size(); ++i) {
    const int64_t from = in[0]->dims()[i], to = out.dims()[i];
    float scale =
        scaled ? elements<float>(*scales)[i] : static_cast<float>(to) / static_cast<float>(from);
    dims.push_back({from, to, scale});
    if (region) dims.back().begin = elements<float>(*region)[i];
    if (region) dims.back().end = elements<float>(*region)[out.dims().size() + i];
  }
  return dims;
}

}  // namespace

std::vector<SampleTaps> resize_taps(const Resize& op, const ResizeDim& dim) {
  std::vector<SampleTaps> all;
  for (int64_t o = 0; o < dim.out; ++o) all.push_back(taps_of(op, dim, o));
  return all;
}

std::span<const std::string_view> enum_names(ResizeMode) {
  return kModes;
}
std::span<const std::string_view> enum_names(ResizeCoordinates) {
  return kCoordinates;
}
std::span<const std::string_view> enum_names(ResizeRounding) {
  return kRoundings;
}

InferredTypes infer(const Resize& op, Operands in) {
  const std::string_view name = Resize::kName;
  CHECK_OK(require_inputs(name, in, 1, 4));
  const Dims& x = in[0].type.dims;
  if (in[0].type.type == DataType::boolean)
    return rule_error(name, "expected numbers, got " + to_string(in[0].type));
  if (has_scales(in) == has_sizes(in)) return rule_error(name, "expected either scales or sizes");
  const size_t used = has_scales(in) ? 1 : 2;
  CHECK_OK(require_vector(name, in, used, static_cast<int64_t>(x.size()),
                          used == 1 ? "scales" : "sizes"));
  if (used == 2)
    CHECK_OK(require_int_vector(name, in, 2, "the sizes"));
  else if (!is_floating(in[1].type.type))
    return rule_error(name, "expected floating scales, got " + to_string(in[1].type));
  CHECK_OK(refuse_double(name, in, 1, "scales"));
  CHECK_OK(refuse_double(name, in, 3, "a region"));
  if (op.coordinates == ResizeCoordinates::crop) {
    CHECK_OK(require_vector(name, in, 3, 2 * static_cast<int64_t>(x.size()), "the region"));
    if (!has(in, 3) || !is_floating(in[3].type.type))
      return rule_error(name, "expected a floating region to crop");
  }
  const Tensor* value = in[used].constant;
  if (!value)
    return std::vector<TensorType>{{in[0].type.type, unknown_dims(static_cast<int64_t>(x.size()))}};
  Dims y = used == 2 ? to_int64s(*value) : x;
  Tensor scales = used == 1 ? convert(*value, DataType::float32) : Tensor();
  for (size_t d = 0; d < x.size(); ++d) {
    if (used == 1) {
      TRY(y[d], scaled_size(x[d], elements<float>(scales)[d]));
    }
    if (used == 2 && y[d] < 0)
      return rule_error(name, "expected sizes of at least 0, got " + ints_text(y));
    if (x[d] == 0 && y[d] != 0)
      return rule_error(name, "an empty dimension cannot grow to " + std::to_string(y[d]));
  }
  return std::vector<TensorType>{{in[0].type.type, y}};
}

Status reference(const Resize& op, ReferenceInputs in, ReferenceOutputs out) {
  if (out[0].size() == 0) return {};
  const std::vector<ResizeDim> dims = dims_of(op, in, out[0]);
  Dims shape = in[0]->dims();
  const auto inner_of = [&](size_t d) {
    return volume(Dims(shape.begin() + static_cast<int64_t>(d) + 1, shape.end()));
  };
  if (op.mode == ResizeMode::nearest && op.coordinates != ResizeCoordinates::crop) {
    with_element_bytes(in[0]->type(), [&](auto type) {
      using T = decltype(type);
      std::vector<T> x(elements<T>(*in[0]), elements<T>(*in[0]) + in[0]->size());
      for (size_t d = 0; d < dims.size(); ++d) {
        if (!is_unchanged(dims[d])) x = resample_nearest(op, x, inner_of(d), dims[d]);
        shape[d] = dims[d].out;
      }
      std::memcpy(out[0].mutable_bytes(), x.data(), x.size() * sizeof(T));
    });
    return {};
  }
  Tensor wide = convert(*in[0], DataType::float64);
  std::vector<double> x(elements<double>(wide), elements<double>(wide) + wide.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!is_unchanged(dims[d])) x = resample_weighted(op, x, inner_of(d), dims[d]);
    shape[d] = dims[d].out;
  }
  const Tensor result =
      convert(Tensor::of<double>(shape, std::span<const double>(x)), out[0].type());
  std::memcpy(out[0].mutable_bytes(), result.raw(), static_cast<size_t>(result.bytes()));
  return {};
}

}  // namespace enginery
