// Products of quantised numbers, and what moves 8-bit numbers between them: see problem_list.h.
#include "tests/support/problem_list.h"

namespace enginery {

// On CPUs oneDNN needs VNNI for them, so no source must offer. Our GPU kernels want rows of a
// matrix product that are multiples of 16 bytes.
std::vector<ProblemRow> quantized_regions() {
  return {
      {"quantized_conv", "-/K",
       "dequantize | uint8[2x16x9x9] w:float32[] | then dequantize(w:int8[24x16x3x3] "
       "w:float32[24]) axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=relu | then quantize(r3 w:float32[]) "
       "to=uint8"},
      {"quantized_conv_to_float", "-/K",
       "dequantize | int8[1x19x8x7] w:float32[1] int8[1]={0} | then dequantize(w:int8[13x19x1x1] "
       "w:float32[13]) axis=0 | then conv(r0 r1 w:float32[13]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0]"},
      {"quantized_conv_depthwise", "-/K",
       "dequantize | uint8[1x32x8x8] w:float32[] | then dequantize(w:int8[32x1x3x3] "
       "w:float32[32]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] groups=32 | then act(r2) kind=clip alpha=0 beta=6 | then quantize(r3 "
       "w:float32[]) to=int8"},
      {"quantized_gemm", "-/-",
       "dequantize | uint8[5x70] w:float32[] | then dequantize(w:int8[33x70] w:float32[33]) axis=0 "
       "| then gemm(r0 r1 w:float32[33]) transpose_b=true | then act(r2) kind=sigmoid | then "
       "quantize(r3 w:float32[]) to=uint8"},
      {"quantized_matmul", "-/-",
       "dequantize | int8[7x40] w:float32[] | then dequantize(w:int8[40x24] w:float32[1]) axis=1 | "
       "then matmul(r0 r1) | then quantize(r2 w:float32[]) to=int8"},
      {"quantized_conv_deep", "-/K",
       "dequantize | int8[1x64x7x7] w:float32[] | then dequantize(w:int8[48x64x3x3] "
       "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=relu | then quantize(r3 w:float32[]) "
       "to=int8"},
      {"quantized_conv_deep_to_float", "-/K",
       "dequantize | uint8[1x128x5x6] w:float32[] | then dequantize(w:int8[40x128x3x3] "
       "w:float32[1]) axis=0 | then conv(r0 r1 w:float32[40]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] | then act(r2) kind=relu"},
      {"quantized_conv_1x1", "-/K",
       "dequantize | int8[2x128x5x5] w:float32[] | then dequantize(w:int8[72x128x1x1] "
       "w:float32[72]) axis=0 | then conv(r0 r1 w:float32[72]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then quantize(r2 w:float32[]) to=int8"},
      {"quantized_conv_residual", "-/K",
       "dequantize | uint8[2x64x6x5] w:float32[] | then dequantize(w:int8[48x64x1x1] "
       "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(r2 float32[2x48x6x5]) kind=add | then "
       "act(r3) kind=relu | then quantize(r4 w:float32[]) to=uint8"},
      {"quantized_conv_residual_to_float", "-/K",
       "dequantize | int8[1x32x9x9] w:float32[] | then dequantize(w:int8[24x32x1x1] "
       "w:float32[24]) axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(float32[1x24x9x9] r2) kind=add | then "
       "act(r3) kind=relu"},
      {"quantized_conv_residual_of_bytes", "-/K",
       "dequantize | uint8[2x64x6x5] w:float32[] | then dequantize(w:int8[48x64x1x1] "
       "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then dequantize(int8[2x48x6x5] w:float32[]) | then "
       "binary(r2 r3) kind=add | then act(r4) kind=relu | then quantize(r5 w:float32[]) to=uint8"},
      {"quantized_conv_residual_of_bytes_to_float", "-/K",
       "dequantize | int8[1x32x9x9] w:float32[] | then dequantize(w:int8[32x32x3x3] "
       "w:float32[32]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] | then dequantize(uint8[1x32x9x9] w:float32[]) | then "
       "binary(r3 r2) kind=add"},
      {"quantized_convs_joined", "-/-",
       "dequantize | uint8[2x128x6x5] w:float32[] | then dequantize(w:int8[48x128x1x1] "
       "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then quantize(r2 w:float32[]) to=int8 | then "
       "dequantize(r3 w:float32[]) | then dequantize(uint8[2x256x12x10] w:float32[]) | then "
       "dequantize(w:int8[48x256x1x1] w:float32[48]) axis=0 | then conv(r5 r6 w:float32[48]) "
       "strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then binary(r7 r4) "
       "kind=add | then act(r8) kind=relu | then quantize(r9 w:float32[]) to=uint8"},
      {"quantized_convs_joined_small", "-/-",
       "dequantize | uint8[3x64x8x9] w:float32[] | then dequantize(w:int8[80x64x1x1] "
       "w:float32[80]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | then quantize(r2 w:float32[]) to=int8 | then dequantize(r3 w:float32[]) "
       "| then dequantize(uint8[3x64x8x9] w:float32[]) | then dequantize(w:int8[80x64x1x1] "
       "w:float32[80]) axis=0 | then conv(r5 r6 w:float32[80]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(r7 r4) kind=add | then act(r8) kind=relu | "
       "then quantize(r9 w:float32[]) to=uint8"},
      {"quantized_convs_joined_3x3", "-/-",
       "dequantize | int8[3x64x9x9] w:float32[] | then dequantize(w:int8[80x64x3x3] "
       "w:float32[80]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] | then quantize(r2 w:float32[]) to=uint8 | then dequantize(r3 w:float32[]) "
       "| then dequantize(int8[3x128x17x18] w:float32[]) | then dequantize(w:int8[80x128x1x1] "
       "w:float32[80]) axis=0 | then conv(r5 r6 w:float32[80]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then binary(r4 r7) kind=add | then quantize(r8 "
       "w:float32[]) to=int8"},
      {"quantized_conv_stem_even", "-/K",
       "dequantize | int8[2x3x12x22] w:float32[] | then dequantize(w:int8[24x3x7x7] "
       "w:float32[24]) axis=0 | then conv(r0 r1) strides=[2,2] dilations=[1,1] "
       "pads_begin=[3,3] pads_end=[3,3] | then act(r2) kind=relu | then "
       "quantize(r3 w:float32[]) to=uint8"},
      {"quantized_conv_stem", "-/K",
       "dequantize | int8[1x3x23x21] w:float32[] | then dequantize(w:int8[24x3x7x7] "
       "w:float32[24]) axis=0 | then conv(r0 r1) strides=[2,2] dilations=[1,1] "
       "pads_begin=[3,3] pads_end=[3,3] | then act(r2) kind=clip alpha=0 beta=6 | then "
       "quantize(r3 w:float32[]) to=uint8"},
      {"quantized_depthwise_to_float", "-/K",
       "dequantize | int8[2x20x9x7] w:float32[] | then dequantize(w:int8[20x1x5x5] "
       "w:float32[20]) axis=0 | then conv(r0 r1 w:float32[20]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[2,2] pads_end=[2,2] groups=20"},
      {"quantized_gemm_wide", "-/K",
       "dequantize | uint8[9x64] w:float32[] | then dequantize(w:int8[40x64] w:float32[40]) axis=0 "
       "| then gemm(r0 r1 w:float32[40]) transpose_b=true | then act(r2) kind=sigmoid | then "
       "quantize(r3 w:float32[]) to=uint8"},
      {"quantized_matmul_wide", "-/K",
       "dequantize | int8[70x96] w:float32[] | then dequantize(w:int8[96x48] w:float32[1]) axis=1 "
       "| then matmul(r0 r1)"},
      // Zero points, addends of 8 bits and changes of scale: on CPUs.
      {"quantized_conv_zero_points", "-/-",
       "dequantize | uint8[2x16x9x9] w:float32[] uint8[]={117} | then dequantize(w:int8[24x16x3x3] "
       "w:float32[24]) axis=0 | then conv(r0 r1 w:float32[24]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] | then quantize(r2 w:float32[] uint8[]={131}) to=uint8"},
      {"quantized_conv_zero_points_1x1", "-/-",
       "dequantize | int8[2x32x5x5] w:float32[] int8[]={-9} | then dequantize(w:int8[24x32x1x1] "
       "w:float32[24]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | then act(r2) kind=relu | then quantize(r3 w:float32[] int8[]={5}) "
       "to=int8"},
      {"quantized_conv_depthwise_zero_point", "-/-",
       "dequantize | uint8[1x32x8x8] w:float32[] uint8[]={20} | then dequantize(w:int8[32x1x3x3] "
       "w:float32[32]) axis=0 | then conv(r0 r1 w:float32[32]) strides=[2,2] dilations=[1,1] "
       "pads_begin=[1,1] pads_end=[1,1] groups=32 | then quantize(r2 w:float32[]) to=uint8"},
      {"quantized_gemm_zero_points", "-/-",
       "dequantize | uint8[5x70] w:float32[] uint8[]={3} | then dequantize(w:int8[33x70] "
       "w:float32[33]) axis=0 | then gemm(r0 r1 w:float32[33]) transpose_b=true | then quantize(r2 "
       "w:float32[] uint8[]={134}) to=uint8"},
      {"quantized_matmul_of_rank_3", "-/-",
       "dequantize | int8[2x7x40] w:float32[] int8[]={7} | then dequantize(w:int8[40x24] "
       "w:float32[24]) axis=1 | then matmul(r0 r1)"},
      {"quantized_conv_residual_bytes", "-/-",
       "dequantize | uint8[2x64x6x5] w:float32[] | then dequantize(w:int8[48x64x1x1] "
       "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
       "pads_begin=[0,0] pads_end=[0,0] | then dequantize(uint8[2x48x6x5] w:float32[] "
       "uint8[]={90}) axis=1 | then binary(r2 r3) kind=add | then act(r4) kind=relu | then "
       "quantize(r5 w:float32[]) to=uint8"},
      {"quantized_conv_residual_of_other_sign", "-/-",
       "dequantize | int8[1x32x9x9] w:float32[] int8[]={4} | then dequantize(w:int8[24x32x3x3] "
       "w:float32[24]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] | then dequantize(int8[1x24x9x9] w:float32[]) axis=1 | then binary(r3 r2) "
       "kind=add | then quantize(r4 w:float32[] uint8[]={120}) to=uint8"},
      {"requantized", "K/-",
       "dequantize | uint8[2x20x5x6] w:float32[] uint8[]={7} | then quantize(r0 w:float32[] "
       "int8[]={-3}) to=int8"},
      {"requantized_within_bounds", "K/-",
       "dequantize | int8[1x33x7x5] w:float32[] | then act(r0) kind=clip alpha=-1 beta=2 | then "
       "quantize(r1 w:float32[] uint8[]={100}) to=uint8"},
      {"requantized_sum", "K/-",
       "dequantize | uint8[2x24x5x5] w:float32[] uint8[]={128} | then dequantize(int8[2x24x5x5] "
       "w:float32[]) axis=1 | then binary(r0 r1) kind=add | then quantize(r2 w:float32[] "
       "uint8[]={11}) to=uint8"},
      {"requantized_sum_with_relu", "K/-",
       "dequantize | int8[3x77] w:float32[] | then dequantize(uint8[3x77] w:float32[]) axis=1 | "
       "then binary(r1 r0) kind=add | then act(r2) kind=relu | then quantize(r3 w:float32[]) "
       "to=int8"},
      {"requantized_by_channel", "K/-",
       "dequantize | uint8[2x40x5x6] w:float32[] uint8[]={131} | then binary(r0 w:float32[40x1x1]) "
       "kind=mul | then binary(r1 w:float32[1x40x1x1]) kind=add | then quantize(r2 w:float32[] "
       "uint8[]={9}) to=uint8"},
      {"requantized_by_channel_with_relu", "K/-",
       "dequantize | int8[1x19x7x5] w:float32[] | then binary(w:float32[1x19x1x1] r0) kind=mul | "
       "then binary(r1 w:float32[1x19x1x1]) kind=add | then act(r2) kind=relu | then quantize(r3 "
       "w:float32[]) to=uint8"},
      {"averaged_bytes", "K/-",
       "dequantize | uint8[2x72x9x9] w:float32[] | then pool(r0) kind=average kernel=[3,3] "
       "strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | then quantize(r1 "
       "w:float32[]) to=uint8"},
      {"averaged_bytes_of_zero_points", "K/-",
       "dequantize | int8[1x130x6x7] w:float32[] int8[]={-7} | then pool(r0) kind=average "
       "kernel=[2,3] strides=[1,2] dilations=[2,1] pads_begin=[1,0] pads_end=[0,2] "
       "count_padding=true | then quantize(r1 w:float32[] uint8[]={90}) to=uint8"},
      {"averaged_bytes_to_float", "K/-",
       "dequantize | uint8[1x20x8x8] w:float32[] uint8[]={128} | then pool(r0) kind=average "
       "kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"averaged_bytes_of_a_row", "K/-",
       "dequantize | int8[3x33x19] w:float32[] | then pool(r0) kind=average kernel=[5] strides=[3] "
       "dilations=[1] pads_begin=[2] pads_end=[2] | then quantize(r1 w:float32[]) to=int8"},
      {"averaged_planes_of_bytes", "K/-",
       "dequantize | uint8[2x200x7x7] w:float32[] uint8[]={3} | then global_pool(r0) kind=average "
       "| then quantize(r1 w:float32[]) to=int8"},
      {"averaged_large_planes_of_bytes", "K/-",
       "dequantize | int8[1x64x3x700] w:float32[] int8[]={-128} | then global_pool(r0) "
       "kind=average"},
  };
}

std::vector<ProblemRow> quantized_problems() {
  return {
      {"quantize_picture", "K/K", "quantize to=int8 | float32[2x3x9x7] w:float32[]"},
      {"quantize_fours_of_pixels", "K/K", "quantize to=int8 | float32[3x3x10x6] w:float32[]"},
      {"quantize_pixels", "K/K", "quantize to=uint8 | float32[2x20x5x6] w:float32[] uint8[]={3}"},
      {"dequantize_pixels", "K/K", "dequantize | int8[2x20x5x6] w:float32[] int8[]={-3}"},
      {"max_pool_bytes", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[0,0] | "
       "int8[2x20x9x9]"},
      {"max_pool_unsigned_bytes", "K/K",
       "pool kind=max kernel=[2,3] strides=[1,2] dilations=[1,2] pads_begin=[0,2] pads_end=[1,2] | "
       "uint8[1x72x7x9]"},
      {"max_pool_bytes_of_a_row", "K/-",
       "pool kind=max kernel=[3] strides=[2] dilations=[1] pads_begin=[1] pads_end=[1] | "
       "int8[2x65x11]"},
      {"global_max_bytes", "-/K", "global_pool kind=max | uint8[2x48x5x5]"},
      {"concat_bytes", "K/K", "concat axis=1 | uint8[1x16x7x7] uint8[1x48x7x7]"},
      {"bytes_to_nhwc", "-/K", "reformat | int8[2x20x5x7] | int8:linear -> int8:nhwc16"},
      {"bytes_to_nchw", "-/K", "reformat | uint8[2x20x5x7] | uint8:nhwc16 -> uint8:linear"},
  };
}

}  // namespace enginery
