// Convolution and deconvolution (transposed convolution), 1 to 3 spatial dimensions, groups and
// dilation. Source: ONNX Conv-11 and ConvTranspose-11.
//
// Importers turn auto_pad and output_shape into explicit paddings, so these structs hold numbers
// only. Errors of both: invalid_argument where channels, groups or ranks contradict.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x [N, C, spatial...], w [K, C/groups, kernel...], optional b [K]. Output: [N, K,
// spatial'...] with spatial' = floor((spatial + pads_begin + pads_end - extent) / stride) + 1 and
// extent = (kernel - 1) * dilation + 1. Output channel k reads the input channels of group k /
// (K/groups).
struct Convolution {
  static constexpr std::string_view kName = "conv";
  static constexpr bool kMovesElements = false;
  std::vector<int64_t> strides, dilations;    // one for each spatial dimension
  std::vector<int64_t> pads_begin, pads_end;  // one for each spatial dimension
  int64_t groups = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("strides", s.strides);
    v("dilations", s.dilations);
    v("pads_begin", s.pads_begin);
    v("pads_end", s.pads_end);
    v("groups", s.groups);
  }
};

// Inputs: x [N, C, spatial...], w [C, K/groups, kernel...], optional b [K]. Output: [N, K,
// spatial'...], where spatial' = stride * (spatial - 1) + output_padding + (kernel - 1) * dilation
// + 1 - pads_begin - pads_end. Output padding adds elements at the end that only the bias reaches.
struct Deconvolution {
  static constexpr std::string_view kName = "deconv";
  static constexpr bool kMovesElements = false;
  std::vector<int64_t> strides, dilations, pads_begin, pads_end, output_padding;
  int64_t groups = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("strides", s.strides);
    v("dilations", s.dilations);
    v("pads_begin", s.pads_begin);
    v("pads_end", s.pads_end);
    v("output_padding", s.output_padding);
    v("groups", s.groups);
  }
};

ENGINERY_OPERATOR(Convolution);
ENGINERY_OPERATOR(Deconvolution);

}  // namespace enginery
