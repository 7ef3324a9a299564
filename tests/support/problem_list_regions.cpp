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
  };
  const auto pooled = pooled_regions();
  regions.insert(regions.end(), pooled.begin(), pooled.end());
  const auto quantized = quantized_regions();
  regions.insert(regions.end(), quantized.begin(), quantized.end());
  return regions;
}

}  // namespace enginery
