// Convolution and deconvolution (transposed convolution), 1 to 3 spatial dimensions, groups and
// dilation. Source: ONNX operators Conv-11 and ConvTranspose-11.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

// Inputs: x [N, C, spatial...], w [K, C/groups, kernel...], optional b [K]. Output: [N, K,
// spatial...].
struct Convolution {
  static constexpr std::string_view kName = "conv";
  std::vector<int64_t> strides, dilations;    // one a spatial dimension
  std::vector<int64_t> pads_begin, pads_end;  // one a spatial dimension
  int64_t groups = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("strides", s.strides), v("dilations", s.dilations), v("pads_begin", s.pads_begin),
        v("pads_end", s.pads_end);
    v("groups", s.groups);
  }
};

// Inputs: x [N, C, spatial...], w [C, K/groups, kernel...], optional b [K]. Output: [N, K,
// spatial...], where spatial = stride * (in - 1) + output_padding + (kernel - 1) * dilation + 1 -
// pads_begin - pads_end.
struct Deconvolution {
  static constexpr std::string_view kName = "deconv";
  std::vector<int64_t> strides, dilations, pads_begin, pads_end, output_padding;
  int64_t groups = 1;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("strides", s.strides), v("dilations", s.dilations), v("pads_begin", s.pads_begin),
        v("pads_end", s.pads_end);
    v("output_padding", s.output_padding), v("groups", s.groups);
  }
};

InferredTypes infer(const Convolution& op, Operands in);
Status reference(const Convolution& op, ReferenceInputs in, ReferenceOutputs out);
InferredTypes infer(const Deconvolution& op, Operands in);
Status reference(const Deconvolution& op, ReferenceInputs in, ReferenceOutputs out);

}  // namespace enginery
