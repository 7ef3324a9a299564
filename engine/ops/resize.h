// Resizing, and the taps that it reads: reference and kernels alike take them from resize_taps, so
// they cannot disagree about coordinates. Source: ONNX Resize-19.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// linear and cubic are separable; cubic is Keys' kernel (1981) with `cubic_coefficient`.
enum class ResizeMode { nearest, linear, cubic };
std::span<const std::string_view> enum_names(ResizeMode);

// Which position x of the input the output's element o reads, with scale = out / in.
//   half_pixel: (o + 0.5) / scale - 0.5      pytorch_half_pixel: the same, 0 where out is 1
//   align_corners: o * (in - 1) / (out - 1)  asymmetric: o / scale
//   half_pixel_symmetric: half_pixel about the centre, whatever the size's rounding cut off
//   crop: ONNX's tf_crop_and_resize, from a region of the input
enum class ResizeCoordinates {
  half_pixel,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  half_pixel_symmetric,
  crop
};
std::span<const std::string_view> enum_names(ResizeCoordinates);

// Which element is nearest to a position between two.
enum class ResizeRounding { round_prefer_floor, round_prefer_ceil, floor, ceil };
std::span<const std::string_view> enum_names(ResizeRounding);

// Inputs: x, optional scales (float32, one for each dimension), optional sizes (int64, one for each
// dimension), exactly one of both, and for `crop` a region: begins then ends, one for each
// dimension, from 0 to 1; what lies outside the input becomes `extrapolation`. By scales the size
// is floor(in * scale). antialias widens linear and cubic kernels by the factor of a reduction;
// exclude_outside leaves taps beyond the edge out and rescales the others.
struct Resize {
  static constexpr std::string_view kName = "resize";
  static constexpr bool kMovesElements = false;
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  float cubic_coefficient = -0.75f;
  bool exclude_outside = false, antialias = false;
  float extrapolation = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("mode", s.mode);
    v("coordinates", s.coordinates);
    v("rounding", s.rounding);
    v("cubic_coefficient", s.cubic_coefficient);
    v("exclude_outside", s.exclude_outside);
    v("antialias", s.antialias);
    v("extrapolation", s.extrapolation);
  }
};

ENGINERY_OPERATOR(Resize);

// One input element and its share.
struct SampleTap {
  int64_t at;
  double weight;
};

// What one index of the output's dimension is made of: the weighted sum of its taps. `outside`
// means the operator's extrapolation value instead.
struct SampleTaps {
  std::vector<SampleTap> taps;
  bool outside = false;
};

// One dimension to resize. Scales stay float, and so do coordinates: ONNX Runtime decides which
// element is nearest in float.
struct ResizeDim {
  int64_t in, out;
  float scale;
  float begin = 0, end = 1;  // of the region, for `crop`
};
// For each of dim.out outputs its taps, which stay within the input. Static sizes, in > 0.
std::vector<SampleTaps> resize_taps(const Resize& op, const ResizeDim& dim);

}  // namespace enginery
