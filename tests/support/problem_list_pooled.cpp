// Convolutions of pictures with the max pooling behind them: see problem_list.h.
#include "tests/support/problem_list.h"

namespace enginery {

// Those of quantised numbers, and of activations other than clips, are our GPU kernels' from SM 8.0
// on, so no source must offer.
std::vector<ProblemRow> pooled_regions() {
  return {
      {"pooled_stem", "K/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[2x3x37x44] "
       "w:float32[24x3x7x7] w:float32[24] | then act(r0) kind=relu | then pool(r1) kind=max "
       "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
      {"pooled_stem_wide", "K/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x15x276] "
       "w:float32[56x3x7x7] w:float32[56] | then act(r0) kind=relu | then pool(r1) kind=max "
       "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
      {"pooled_stem_without_padding", "K/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x35x140] "
       "w:float32[16x3x7x7] | then pool(r0) kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] ceil_mode=true"},
      {"pooled_pairs", "-/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x4x14x21] "
       "w:float32[18x4x3x3] w:float32[18] | then act(r0) kind=leaky_relu alpha=0.1 | then pool(r1) "
       "kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"pooled_large_filter", "K/-",
       "conv strides=[4,4] dilations=[1,1] pads_begin=[2,2] pads_end=[2,2] | float32[1x3x43x51] "
       "w:float32[56x3x11x11] w:float32[56] | then act(r0) kind=relu | then pool(r1) kind=max "
       "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"pooled_one_channel", "K/-",
       "conv strides=[1,3] dilations=[1,1] pads_begin=[0,1] pads_end=[2,0] | float32[3x1x20x45] "
       "w:float32[33x1x5x2] w:float32[33] | then act(r0) kind=clip alpha=-0.5 beta=0.5 | then "
       "pool(r1) kind=max kernel=[4,3] strides=[3,1] dilations=[1,1] pads_begin=[2,1] "
       "pads_end=[1,1]"},
      {"pooled_falling_activation", "-/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x3x12x12] "
       "w:float32[16x3x3x3] | then act(r0) kind=swish alpha=1 | then pool(r1) kind=max "
       "kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"quantized_pooled_stem", "-/-",
       "dequantize | int8[2x3x37x44] w:float32[] | then dequantize(w:int8[24x3x7x7] "
       "w:float32[24]) axis=0 | then conv(r0 r1 w:float32[24]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[3,3] pads_end=[3,3] | then act(r2) kind=relu | then quantize(r3 w:float32[]) "
       "to=uint8 | then pool(r4) kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1]"},
      {"quantized_pooled_stem_wide", "-/-",
       "dequantize | uint8[1x3x15x276] w:float32[] | then dequantize(w:int8[56x3x7x7] "
       "w:float32[56]) axis=0 | then conv(r0 r1) strides=[2,2] dilations=[1,1] "
       "pads_begin=[3,3] pads_end=[3,3] | then quantize(r2 w:float32[]) to=int8 | then pool(r3) "
       "kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
      {"quantized_pooled_stem_odd", "-/-",
       "dequantize | int8[1x3x23x139] w:float32[] | then dequantize(w:int8[16x3x3x3] "
       "w:float32[1]) axis=0 | then conv(r0 r1 w:float32[16]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then act(r2) kind=clip alpha=0 beta=6 | then quantize(r3 "
       "w:float32[]) to=int8 | then pool(r4) kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0]"},
      {"quantized_pooled_picture", "-/-",
       "quantize to=int8 | float32[2x3x37x44] w:float32[] | then dequantize(r0 w:float32[]) | then "
       "dequantize(w:int8[24x3x7x7] w:float32[24]) axis=0 | then conv(r1 r2 w:float32[24]) "
       "strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | then act(r3) kind=relu | "
       "then quantize(r4 w:float32[]) to=uint8 | then pool(r5) kind=max kernel=[3,3] strides=[2,2] "
       "dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
      {"quantized_pooled_picture_odd", "-/-",
       "quantize to=uint8 | float32[1x1x23x139] w:float32[] uint8[]={0} | then dequantize(r0 "
       "w:float32[] uint8[]={0}) | then dequantize(w:int8[40x1x3x3] w:float32[1]) axis=0 | then "
       "conv(r1 r2) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then "
       "quantize(r3 w:float32[]) to=int8 | then pool(r4) kind=max kernel=[2,2] strides=[2,2] "
       "dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
  };
}

}  // namespace enginery
