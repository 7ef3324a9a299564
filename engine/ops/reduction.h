// Reductions and resizing. Sources: the ONNX Reduce* operators (18), ArgMax-13, ArgMin-13,
// Resize-19.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

enum class ReduceKind { sum, mean, max, min, prod, sum_square, l1, l2, log_sum, log_sum_exp };
std::span<const std::string_view> enum_names(ReduceKind);

// Over `axes`; with none, over all of them, or over nothing when none_is_identity.
struct Reduce {
  static constexpr std::string_view kName = "reduce";
  ReduceKind kind = ReduceKind::mean;
  std::vector<int64_t> axes;
  bool keep_dims = true, none_is_identity = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind), v("axes", s.axes), v("keep_dims", s.keep_dims),
        v("none_is_identity", s.none_is_identity);
  }
};

// Index (int64) of the largest or smallest element along `axis`; the first, or the last with
// select_last.
struct ArgExtreme {
  static constexpr std::string_view kName = "arg_extreme";
  bool largest = true, keep_dims = true, select_last = false;
  int64_t axis = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("largest", s.largest), v("axis", s.axis), v("keep_dims", s.keep_dims),
        v("select_last", s.select_last);
  }
};

enum class ResizeMode { nearest, linear, cubic };
std::span<const std::string_view> enum_names(ResizeMode);
enum class ResizeCoordinates {
  half_pixel,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  half_pixel_symmetric,
  crop
};
std::span<const std::string_view> enum_names(ResizeCoordinates);
enum class ResizeRounding { round_prefer_floor, round_prefer_ceil, floor, ceil };
std::span<const std::string_view> enum_names(ResizeRounding);

// Inputs: x, optional scales (float32, one a dimension), optional sizes (int64, one a dimension),
// one of both, and for `crop` (ONNX's tf_crop_and_resize) a region: begins then ends, one a
// dimension, from 0 to 1; what lies outside the input becomes `extrapolation`. antialias widens
// linear and cubic kernels by the factor of a reduction.
struct Resize {
  static constexpr std::string_view kName = "resize";
  ResizeMode mode = ResizeMode::nearest;
  ResizeCoordinates coordinates = ResizeCoordinates::half_pixel;
  ResizeRounding rounding = ResizeRounding::round_prefer_floor;
  float cubic_coefficient = -0.75f;
  bool exclude_outside = false, antialias = false;
  float extrapolation = 0;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("mode", s.mode), v("coordinates", s.coordinates), v("rounding", s.rounding);
    v("cubic_coefficient", s.cubic_coefficient), v("exclude_outside", s.exclude_outside);
    v("antialias", s.antialias), v("extrapolation", s.extrapolation);
  }
};

InferredTypes infer(const Reduce& op, Operands in);
Status reference(const Reduce& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const ArgExtreme& op, Operands in);
Status reference(const ArgExtreme& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Resize& op, Operands in);
Status reference(const Resize& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
