#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> averaged_products() {
  return {
      {"average_and_layer", "K/-",
       "global_pool kind=average | float32[2x80x7x7] | then flatten(r0) axis=1 | then gemm(r1 "
       "w:float32[37x80] w:float32[37]) transpose_b=true | then act(r2) kind=relu"},
      {"average_and_layer_of_odd_channels", "K/-",
       "global_pool kind=average | float32[3x41x5x9] | then flatten(r0) axis=1 | then matmul(r1 "
       "w:float32[41x10])"},
      {"average_and_layer_of_many_pixels", "K/-",
       "global_pool kind=average | float32[1x128x40x40] | then reshape(r0 int64[2]={1,-1}) | then "
       "gemm(r1 w:float32[128x64] w:float32[1x64]) alpha=0.5 beta=2"},
      {"average_and_pixel_product", "K/-",
       "global_pool kind=average | float32[1x192x11x3] | then conv(r0 w:float32[50x192x1x1] "
       "w:float32[50]) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then "
       "act(r1) kind=clip alpha=0 beta=0.1"},
      {"average_of_a_line_and_layer", "K/-",
       "global_pool kind=average | float32[2x24x33] | then flatten(r0) axis=1 | then gemm(r1 "
       "w:float32[24x6])"},
  };
}

std::vector<ProblemRow> depthwise_blocks() {
  return {
      {"depthwise_and_product", "K/-",
       "conv strides=[1,1] dilations=[1,1] groups=48 pads_begin=[1,1] pads_end=[1,1] | "
       "float32[2x48x11x13] w:float32[48x1x3x3] w:float32[48] | then act(r0) kind=clip alpha=0 "
       "beta=6 | then conv(r1 w:float32[24x48x1x1] w:float32[24]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(r2 float32[2x24x11x13]) kind=add"},
      {"depthwise_and_product_of_odd_channels", "K/-",
       "conv strides=[2,2] dilations=[1,1] groups=41 pads_begin=[1,1] pads_end=[1,1] | "
       "float32[3x41x22x17] w:float32[41x1x3x3] | then conv(r0 w:float32[37x41x1x1]) "
       "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then act(r1) kind=relu"},
      {"depthwise_and_product_uneven", "K/-",
       "conv strides=[3,1] dilations=[1,1] groups=32 pads_begin=[4,0] pads_end=[2,3] | "
       "float32[1x32x16x30] w:float32[32x1x6x4] w:float32[32] | then act(r0) kind=relu | then "
       "conv(r1 w:float32[64x32x1x1] w:float32[64]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(float32[1x64x6x30] r2) kind=add | then "
       "act(r3) kind=relu"},
      {"inverted_residual", "K/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x16x13x12] "
       "w:float32[96x16x1x1] w:float32[96] | then act(r0) kind=clip alpha=0 beta=6 | then conv(r1 "
       "w:float32[96x1x3x3] w:float32[96]) strides=[1,1] dilations=[1,1] groups=96 "
       "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=clip alpha=0 beta=6 | then conv(r3 "
       "w:float32[16x96x1x1] w:float32[16]) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | then binary(0 r4) kind=add"},
      {"inverted_bottleneck_strided", "K/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x24x29x23] "
       "w:float32[72x24x1x1] | then act(r0) kind=relu | then conv(r1 w:float32[72x1x5x5]) "
       "strides=[2,2] dilations=[1,1] groups=72 pads_begin=[2,2] pads_end=[2,2] | then conv(r2 "
       "w:float32[40x72x1x1]) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"inverted_bottleneck_tall", "K/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x61x9] "
       "w:float32[48x32x1x1] w:float32[48] | then conv(r0 w:float32[48x1x3x3] w:float32[48]) "
       "strides=[1,1] dilations=[1,1] groups=48 pads_begin=[1,1] pads_end=[1,1] | then act(r1) "
       "kind=relu | then conv(r2 w:float32[33x48x1x1]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(r3 float32[1x33x61x9]) kind=add | then "
       "act(r4) kind=relu"},
  };
}

}  // namespace enginery
