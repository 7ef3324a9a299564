#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> conformance_regions() {
  std::vector<ProblemRow> regions{
      {"stem_and_pool", "-/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x21x23] "
       "w:float32[16x3x7x7] w:float32[16] | then act(r0) kind=relu | then pool(r1) kind=max "
       "kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]"},
      {"conv_and_conv", "-/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x16x9x9] "
       "w:float32[16x16x3x3] | then act(r0) kind=relu | then conv(r1 w:float32[24x16x1x1]) "
       "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]"},
      {"convs_joined", "-/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x64x6x5] "
       "w:float32[40x64x1x1] w:float32[40] | then conv(float32[2x128x12x10] w:float32[40x128x1x1] "
       "w:float32[40]) strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | then "
       "binary(r0 r1) kind=add | then act(r2) kind=relu"},
      {"convs_joined_3x3", "-/-",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[3x64x17x18] "
       "w:float32[72x64x1x1] | then conv(float32[3x64x9x9] w:float32[72x64x3x3] w:float32[72]) "
       "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | then binary(r1 r0) "
       "kind=add"},
      {"average_and_product", "-/-",
       "global_pool kind=average | float32[2x48x7x7] | then flatten(r0) axis=1 | then gemm(r1 "
       "w:float32[20x48] w:float32[20]) transpose_b=true"},
      {"gate", "-/-",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x6x6] "
       "w:float32[16x16x1x1] | then act(r0) kind=sigmoid | then binary(r0 r1) kind=mul | then "
       "binary(r2 0) kind=add"},
      {"attention", "-/-",
       "matmul | float32[2x17x32] float32[2x32x19] | then binary(r0 w:float32[1]) kind=mul | then "
       "binary(r1 float32[2x1x19]) kind=add | then softmax(r2) axis=-1 | then matmul(r3 "
       "float32[2x19x32])"},
      {"attention_in_half", "-/-",
       "matmul | float16[2x17x32] float16[2x32x19] | then softmax(r0) axis=-1 | then matmul(r1 "
       "float16[2x19x32])"},
      {"unit_length", "-/-",
       "reduce kind=sum_square axes=[1] | float32[6x64] | then unary(r0) kind=sqrt | then binary(0 "
       "r1) kind=div"},
      {"moves", "-/-",
       "reshape | float32[2x6x8] int64[4]={2,6,2,4} | then transpose(r0) permutation=[0,2,1,3]"},
      {"product_and_largest", "-/-",
       "gemm | float32[5x24] w:float32[24x11] | then arg_extreme(r0) axis=1"},
      {"chain_of_functions", "K/K",
       "unary kind=abs | float32[2x6x5x7] | then binary(r0 w:float32[1x6x1x1]) kind=sub | then "
       "unary(r1) kind=exp | then binary(w:float32[1] r2) kind=div | then act(r3) kind=tanh"},
      {"chain_turned", "K/K",
       "binary kind=sub | w:float32[1] float32[3x16x4x4] | then binary(float32[3x16x4x4] r0) "
       "kind=min | then binary(r1 float32[3x1x4x4]) kind=max | then unary(r2) kind=atan | then "
       "prelu(r3 w:float32[16x1x1])"},
      {"chain_along_channels", "K/K",
       "binary kind=mul | float32[2x32x3x3] w:float32[1x32x1x1] | then binary(r0 "
       "float32[2x32x1x1]) "
       "kind=sub | then unary(r1) kind=neg | then act(r2) kind=softplus"},
      {"chain_of_a_matrix", "K/K",
       "unary kind=sin | float32[7x33] | then binary(r0 w:float32[33]) kind=add | then unary(r1) "
       "kind=cos | then binary(float32[7x1] r2) kind=sub | then unary(r3) kind=exp | then "
       "binary(r4 w:float32[1]) kind=pow"},
      {"chain_of_a_line", "K/K",
       "unary kind=atan | float32[10007] | then unary(r0) kind=cos | then binary(r1 w:float32[1]) "
       "kind=mul"},
      {"chain_with_a_square", "K/K",
       "act kind=sigmoid | float32[2x3x4x5x6] | then binary(r0 w:float32[1]) kind=mul | then "
       "binary(r1 r1) kind=mul | then binary(r2 w:float32[1x3x1x1x6]) kind=mul"},
      {"chain_with_choices", "K/K",
       "unary kind=exp | float32[3x5x8] | then select(boolean[3x1x8] r0 w:float32[1]) | then "
       "unary(r1) kind=neg | then select(boolean[3x5x8] float32[5x8] r2)"},
      {"chain_from_whole_numbers", "K/K",
       "cast to=float32 | int64[2x1x1x9] | then binary(w:float32[1] r0) kind=sub | then binary(r1 "
       "w:float32[1]) kind=mul"},
      {"chain_of_whole_numbers_divided", "K/K",
       "cast to=float32 | int64[3x24] | then binary(r0 w:float32[1]) kind=div | then binary(r1 "
       "w:float32[1]) kind=add"},
      {"chain_from_booleans", "K/K",
       "cast to=float32 | boolean[4x33] | then binary(r0 float32[4x33]) kind=mul | then act(r1) "
       "kind=sigmoid"},
      {"tree_of_functions", "-/K",
       "unary kind=exp | float32[4x24] | then unary(0) kind=neg | then unary(r1) kind=exp | then "
       "binary(r0 r2) kind=sub | then binary(r3 w:float32[1]) kind=mul"},
  };
  for (const auto& more : {depthwise_blocks(), averaged_products(), pooled_regions()})
    regions.insert(regions.end(), more.begin(), more.end());
  const auto quantized = quantized_regions();
  regions.insert(regions.end(), quantized.begin(), quantized.end());
  return regions;
}

}  // namespace enginery
