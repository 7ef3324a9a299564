// Pooling over windows and over whole planes. Sources: ONNX MaxPool-12, AveragePool-19,
// GlobalAveragePool-1, GlobalMaxPool-1.
//
// Average takes floating inputs, max 8-bit integers too. A NaN in a window is that window's
// maximum.
#pragma once

#include "engine/ops/attributes.h"
#include "engine/ops/operand.h"

namespace enginery {

enum class PoolKind { max, average };
std::span<const std::string_view> enum_names(PoolKind);

// Input: [N, C, spatial...]. Output: [N, C, spatial'...], spatial' as for Convolution; with
// ceil_mode rounded up, so that the last window may start inside the input and end outside (a
// window that would start in the right padding is dropped). average divides by the window's
// elements inside the input, or inside input and padding with count_padding. Errors:
// invalid_argument for a padding not smaller than the window.
struct Pooling {
  static constexpr std::string_view kName = "pool";
  static constexpr bool kMovesElements = false;
  PoolKind kind = PoolKind::max;
  std::vector<int64_t> kernel, strides, dilations, pads_begin, pads_end;
  bool ceil_mode = false, count_padding = false;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
    v("kernel", s.kernel);
    v("strides", s.strides);
    v("dilations", s.dilations);
    v("pads_begin", s.pads_begin);
    v("pads_end", s.pads_end);
    v("ceil_mode", s.ceil_mode);
    v("count_padding", s.count_padding);
  }
};

// Input: [N, C, spatial...]. Output: [N, C, 1...]: the mean or maximum of each plane.
struct GlobalPooling {
  static constexpr std::string_view kName = "global_pool";
  static constexpr bool kMovesElements = false;
  PoolKind kind = PoolKind::average;
  template <typename Self, typename V>
  static void fields(Self& s, V&& v) {
    v("kind", s.kind);
  }
};

ENGINERY_OPERATOR(Pooling);
ENGINERY_OPERATOR(GlobalPooling);

}  // namespace enginery
