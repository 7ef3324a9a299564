#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> conformance_problems() {
  return {
      // name, problem
      {"conv_3x3",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x32x9x11] "
       "w:float32[48x32x3x3] w:float32[48]"},
      {"conv_3x3_relu",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x32x14x14] "
       "w:float32[32x32x3x3] w:float32[32] | act kind=relu"},
      {"conv_3x3_epilogue_bias_clip",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x16x12x12] "
       "w:float32[16x16x3x3] | bias w:float32[16] | act kind=clip alpha=0 beta=6"},
      {"conv_3x3_residual_relu",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x32x10x10] "
       "w:float32[32x32x3x3] w:float32[32] | add float32[1x32x10x10] | act kind=relu"},
      {"conv_1x1_residual",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x7x7] "
       "w:float32[80x64x1x1] | add float32[1x80x7x7]"},
      {"conv_1x1_relu_then_add",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x7x7] "
       "w:float32[32x32x1x1] | act kind=relu | add float32[1x32x7x7]"},
      {"conv_1x1_two_adds",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x7x7] "
       "w:float32[32x32x1x1] | add float32[1x32x7x7] | add float32[1x32x7x7] | act kind=relu"},
      {"conv_1x1_multiply_channels",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x5x5] "
       "w:float32[32x32x1x1] | multiply float32[1x32x1x1]"},
      {"conv_1x1_stride_2",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x14x14] "
       "w:float32[128x64x1x1] w:float32[128]"},
      {"conv_1x1_padded",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x64x13x13] "
       "w:float32[10x64x1x1] w:float32[10] | act kind=relu"},
      {"conv_1x1_padded_tail",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,2] pads_end=[1,2] | float32[2x19x6x15] "
       "w:float32[37x19x1x1] w:float32[37] | act kind=relu"},
      {"conv_1x1_many_pixels",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x32x41x23] "
       "w:float32[64x32x1x1] w:float32[64] | act kind=clip alpha=0 beta=6"},
      {"conv_1x1_deep_residual",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x320x7x7] "
       "w:float32[176x320x1x1] w:float32[176] | add float32[2x176x7x7] | act kind=relu"},
      {"conv_1x1_odd_channels",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x24x9x9] "
       "w:float32[23x24x1x1] | bias w:float32[23] | add float32[1x23x9x9]"},
      {"conv_1x1_stride_2_batch",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[3x32x15x13] "
       "w:float32[48x32x1x1] w:float32[48] | act kind=relu"},
      {"conv_1x1_one_pixel",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x1x1] "
       "w:float32[16x64x1x1] w:float32[16] | act kind=relu"},
      {"conv_1x1_1d",
       "conv strides=[1] dilations=[1] pads_begin=[0] pads_end=[0] | float32[2x16x33] "
       "w:float32[32x16x1] w:float32[32]"},
      {"conv_stem_7x7",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x31x33] "
       "w:float32[64x3x7x7] w:float32[64] | act kind=relu"},
      {"conv_stem_3x3_no_padding",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x3x32x32] "
       "w:float32[16x3x3x3] w:float32[16] | act kind=relu"},
      {"conv_odd_channels",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x5x9x9] "
       "w:float32[7x5x3x3] w:float32[7] | act kind=leaky_relu alpha=0.1"},
      {"conv_asymmetric_padding",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[1,1] | float32[1x16x16x16] "
       "w:float32[16x16x3x3] w:float32[16]"},
      {"conv_dilated",
       "conv strides=[1,1] dilations=[2,2] pads_begin=[2,2] pads_end=[2,2] | float32[1x16x15x15] "
       "w:float32[32x16x3x3] w:float32[32] | act kind=relu"},
      {"conv_dilated_5",
       "conv strides=[1,1] dilations=[5,5] pads_begin=[5,5] pads_end=[5,5] | float32[1x12x15x20] "
       "w:float32[12x12x3x3] w:float32[12]"},
      {"conv_1x3",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,1] pads_end=[0,1] | float32[1x16x9x9] "
       "w:float32[24x16x1x3] w:float32[24]"},
      {"conv_3x3_deep",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x128x5x5] "
       "w:float32[40x128x3x3] w:float32[40] | add float32[1x40x5x5] | act kind=relu"},
      {"conv_1x1_deep",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x1032x4x5] "
       "w:float32[72x1032x1x1] w:float32[72] | act kind=relu"},
      {"conv_3x3_stride_2_deep",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[3x72x9x11] "
       "w:float32[136x72x3x3] w:float32[136] | act kind=swish"},
      {"conv_depthwise",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=32 | "
       "float32[1x32x14x14] w:float32[32x1x3x3] w:float32[32] | act kind=clip alpha=0 beta=6"},
      {"conv_depthwise_stride_2",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=24 | "
       "float32[2x24x15x15] w:float32[24x1x3x3] w:float32[24] | act kind=relu"},
      {"conv_depthwise_odd_channels",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=19 | "
       "float32[1x19x9x9] w:float32[19x1x3x3] w:float32[19]"},
      {"conv_depthwise_5x5",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[2,2] pads_end=[2,2] groups=16 | "
       "float32[1x16x9x9] w:float32[16x1x5x5]"},
      {"conv_groups_4",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=4 | "
       "float32[1x32x9x9] w:float32[64x8x3x3] w:float32[64] | act kind=relu"},
      {"conv_hard_swish",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=hard_swish"},
      {"conv_swish",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=swish"},
      {"conv_sigmoid",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=sigmoid"},
      {"conv_gelu",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=gelu_erf"},
      {"conv_elu",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=elu alpha=1"},
      {"conv_hard_sigmoid",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=hard_sigmoid alpha=0.2 beta=0.5"},
      {"conv_1d",
       "conv strides=[1] dilations=[1] pads_begin=[1] pads_end=[1] | float32[2x16x33] "
       "w:float32[16x16x3] w:float32[16] | act kind=relu"},
      {"conv_3d",
       "conv strides=[1,1,1] dilations=[1,1,1] pads_begin=[1,1,1] pads_end=[1,1,1] | "
       "float32[1x16x5x6x7] w:float32[16x16x3x3x3] w:float32[16]"},
      {"deconv_2x2",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] output_padding=[0,0] "
       "| float32[1x16x7x7] w:float32[16x8x2x2] w:float32[8]"},
      {"deconv_3x3_output_padding",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] output_padding=[1,1] "
       "| float32[1x16x7x7] w:float32[16x24x3x3] w:float32[24] | act kind=relu"},
      {"deconv_groups",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] output_padding=[0,0] "
       "groups=4 | float32[1x16x7x7] w:float32[16x4x4x4]"},
      {"deconv_dilated_asymmetric",
       "deconv strides=[2,1] dilations=[1,2] pads_begin=[1,0] pads_end=[0,2] output_padding=[0,0] "
       "| float32[2x5x6x7] w:float32[5x11x3x3] w:float32[11] | add float32[2x11x12x9]"},
      {"deconv_1d",
       "deconv strides=[3] dilations=[1] pads_begin=[1] pads_end=[1] output_padding=[2] | "
       "float32[2x8x9] w:float32[8x16x5] w:float32[16]"},

      {"gemm_1xN", "gemm transpose_b=true | float32[1x200] w:float32[50x200] w:float32[50]"},
      {"gemm_5xN_relu",
       "gemm transpose_b=true | float32[5x64] w:float32[33x64] w:float32[33] | act kind=relu"},
      {"gemm_wide",
       "gemm transpose_b=true | float32[20x264] w:float32[136x264] w:float32[136] | act kind=relu"},
      {"gemm_kn_factors", "gemm alpha=0.5 beta=2 | float32[3x40] w:float32[40x30] w:float32[1x30]"},
      {"gemm_scalar_addend", "gemm transpose_b=true | float32[2x32] w:float32[8x32] w:float32[1]"},
      {"gemm_epilogue_bias",
       "gemm transpose_b=true | float32[1x128] w:float32[96x128] | bias w:float32[96] | act "
       "kind=relu"},
      {"gemm_add",
       "gemm transpose_b=true | float32[4x32] w:float32[16x32] w:float32[16] | add float32[4x16]"},
      {"gemm_run_time_b", "gemm transpose_b=true | float32[4x32] float32[16x32]"},
      {"gemm_transpose_a", "gemm transpose_a=true | float32[32x4] w:float32[32x16]"},
      {"matmul_2d", "matmul | float32[7x24] w:float32[24x20]"},
      {"matmul_bias", "matmul | float32[1x24] w:float32[24x20] | bias w:float32[20]"},
      {"matmul_batched", "matmul | float32[2x3x7x16] float32[2x3x16x9]"},
      {"matmul_batched_weights", "matmul | float32[2x7x16] w:float32[16x12] | bias w:float32[12]"},
      {"matmul_broadcast_batch", "matmul | float32[2x3x7x16] float32[1x3x16x9]"},
      {"matmul_vector", "matmul | float32[7x16] float32[16]"},
      {"matmul_vector_first", "matmul | float32[16] float32[3x16x10]"},
      {"matmul_batched_tiles", "matmul | float32[2x70x40] float32[2x40x68] | act kind=relu"},
      {"matmul_batches_both_repeat", "matmul | float32[3x1x5x16] float32[2x16x8]"},
      {"gemm_run_time_scaled",
       "gemm alpha=0.5 beta=2 transpose_a=true | float32[24x70] float32[24x36] w:float32[36] | act "
       "kind=relu"},

      {"max_pool_3x3_s2",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
       "float32[1x32x15x17]"},
      {"max_pool_2x2",
       "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[2x16x8x8]"},
      {"max_pool_ceil",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
       "ceil_mode=true | float32[1x64x14x14]"},
      {"max_pool_odd_channels",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x19x13x13]"},
      {"max_pool_remainder",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x32x8x10]"},
      {"average_pool_remainder",
       "pool kind=average kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | float32[1x16x7x9]"},
      {"max_pool_wide_padding_end",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[1,1] | "
       "float32[1x16x9x9]"},
      {"max_pool_dilated",
       "pool kind=max kernel=[2,2] strides=[1,1] dilations=[2,2] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x16x9x9]"},
      {"max_pool_relu",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
       "float32[1x16x9x9] | act kind=relu"},
      {"max_pool_1d",
       "pool kind=max kernel=[3] strides=[2] dilations=[1] pads_begin=[1] pads_end=[1] | "
       "float32[1x16x21]"},
      {"average_pool_3x3",
       "pool kind=average kernel=[3,3] strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] | float32[1x16x9x9]"},
      {"average_pool_counting_padding",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] count_padding=true | float32[1x16x9x9]"},
      {"average_pool_ceil",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] ceil_mode=true | float32[1x24x8x8]"},
      {"average_pool_ceil_counting",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] ceil_mode=true count_padding=true | float32[1x16x8x8]"},
      {"global_average", "global_pool kind=average | float32[2x48x7x7]"},
      {"global_average_odd", "global_pool kind=average | float32[1x10x13x9]"},
      {"global_max", "global_pool kind=max | float32[1x33x6x6]"},
      {"reduce_mean_spatial", "reduce kind=mean axes=[2,3] keep_dims=false | float32[2x40x5x7]"},
      {"reduce_mean_keep", "reduce kind=mean axes=[2,3] keep_dims=true | float32[1x16x7x7]"},
      {"reduce_sum_last", "reduce kind=sum axes=[-1] keep_dims=true | float32[4x7x33]"},
      {"reduce_max_first", "reduce kind=max axes=[0] keep_dims=false | float32[6x35]"},
      {"reduce_mean_last_wide",
       "reduce kind=mean axes=[-1] keep_dims=true | float32[6x1030] | act kind=relu"},
      {"reduce_l2_all", "reduce kind=l2 axes=[] keep_dims=true | float32[3x50x7]"},
      {"reduce_min_middle", "reduce kind=min axes=[1] keep_dims=false | float32[5x9x130]"},

      {"softmax_rows", "softmax axis=-1 | float32[37x21]"},
      {"softmax_two", "softmax axis=2 | float32[1x442x2]"},
      {"softmax_channels", "softmax axis=1 | float32[1x21x9x9]"},
      {"softmax_1000", "softmax axis=1 | float32[1x1000]"},
      {"softmax_1000x1x1", "softmax axis=1 | float32[1x1000x1x1]"},
      {"log_softmax", "softmax axis=-1 log=true | float32[5x30]"},
      {"lrn_5", "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[1x32x7x7]"},
      {"lrn_3", "lrn size=3 alpha=0.3 beta=0.5 bias=2 | float32[2x20x5x5]"},
      {"batch_norm",
       "batch_norm epsilon=0.001 | float32[2x24x7x7] w:float32[24] w:float32[24] w:float32[24] "
       "w:float32[24]"},
      {"batch_norm_2d",
       "batch_norm epsilon=0.001 | float32[5x24] w:float32[24] w:float32[24] w:float32[24] "
       "w:float32[24]"},

      {"relu", "act kind=relu | float32[2x20x5x5]"},
      {"clip", "act kind=clip alpha=0 beta=6 | float32[1x16x5x5]"},
      {"mish", "act kind=mish | float32[3x50]"},
      {"softsign", "act kind=softsign | float32[3x50]"},
      {"selu", "act kind=selu alpha=1.6733 beta=1.0507 | float32[3x50]"},
      {"thresholded_relu", "act kind=thresholded_relu alpha=0.3 | float32[1x16x4x4]"},
      {"unary_exp", "unary kind=exp | float32[1x8x5x5]"},
      {"unary_exp_long", "unary kind=exp | float32[1x4420x2]"},
      {"concat_pairs", "concat axis=2 | float32[1x300x2] float32[1x300x2]"},
      {"concat_threes", "concat axis=2 | float32[1x300x3] float32[1x300x1]"},
      {"unary_sqrt", "unary kind=sqrt | float32[11x7]"},
      {"unary_neg", "unary kind=neg | float32[1x16x4x4]"},
      {"prelu", "prelu | float32[1x16x5x5] w:float32[16x1x1]"},
      {"add_same", "binary kind=add | float32[1x32x6x6] float32[1x32x6x6]"},
      {"add_same_relu", "binary kind=add | float32[1x32x6x6] float32[1x32x6x6] | act kind=relu"},
      {"mul_channels", "binary kind=mul | float32[1x32x6x6] float32[1x32x1x1]"},
      {"mul_first_broadcast", "binary kind=mul | float32[1x32x1x1] float32[2x32x6x6]"},
      {"sub_scalar_constant", "binary kind=sub | float32[1x16x6x6] w:float32[1]"},
      {"sub_constant_first", "binary kind=sub | w:float32[1] float32[1x16x6x6]"},
      {"div_last", "binary kind=div | float32[1x442x2] w:float32[2]"},
      {"add_per_row", "binary kind=add | float32[1x442x4] w:float32[1x442x1]"},
      {"mul_whole_constant", "binary kind=mul | float32[1x442x2] w:float32[1x442x2]"},
      {"add_whole_constant_image",
       "binary kind=add | float32[2x16x5x6] w:float32[2x16x5x6] | act kind=relu"},
      {"max_same", "binary kind=max | float32[7x9] float32[7x9]"},
      {"pow", "binary kind=mul | float32[5x7] float32[7]"},
      {"add_anchors_to_each_row", "binary kind=add | float32[8x442x4] w:float32[1x442x4]"},
      {"add_constant_per_image",
       "binary kind=add | float32[3x16x5x6] w:float32[1x16x5x6] | act kind=relu"},
      {"mul_spatial_gate", "binary kind=mul | float32[2x16x5x6] float32[2x1x5x6] | act kind=relu"},
      {"sub_both_repeat", "binary kind=sub | float32[4x1x6] float32[5x1]"},
      {"relu_add_repeated",
       "act kind=relu | float32[2x8x5x6] | add float32[2x1x1x6] | multiply w:float32[8x5x1]"},

      {"concat_channels", "concat axis=1 | float32[1x16x7x7] float32[1x32x7x7]"},
      {"concat_channels_odd", "concat axis=1 | float32[2x5x3x3] float32[2x7x3x3] float32[2x1x3x3]"},
      {"concat_middle", "concat axis=1 | float32[1x30x2] float32[1x12x2] float32[1x5x2]"},
      {"concat_last", "concat axis=-1 | float32[3x4x5] float32[3x4x2]"},
      {"concat_int64", "concat axis=0 | int64[3] int64[2]"},
      {"split_channels", "split axis=1 sizes=[8,24] | float32[1x32x5x5]"},
      {"split_last", "split axis=2 sizes=[1,3] | float32[2x7x4]"},
      {"slice_last", "slice | float32[1x442x4] int64[1]={0} int64[1]={2} int64[1]={2}"},
      {"slice_channels_step",
       "slice | float32[1x16x5x5] int64[1]={1} int64[1]={16} int64[1]={1} int64[1]={3}"},
      {"slice_negative_step",
       "slice | float32[6x5] int64[1]={-1} int64[1]={-9} int64[1]={0} int64[1]={-1}"},
      {"pad_constant", "pad mode=constant | float32[1x8x5x5] int64[8]={0,0,1,2,0,0,3,1}"},
      {"pad_value",
       "pad mode=constant | float32[2x3x5x6] int64[8]={0,1,1,2,0,0,3,-1} w:float32[1]"},
      {"pad_computed_value",
       "pad mode=constant | float32[2x16x5] int64[2]={2,3} float32[1] int64[1]={-1}"},
      {"pad_channels", "pad mode=constant | float32[2x8x3x4] int64[8]={0,0,0,0,0,8,0,0}"},
      {"pad_reflect", "pad mode=reflect | float32[1x16x7x6] int64[8]={0,0,3,2,0,0,3,2}"},
      {"pad_edge", "pad mode=edge | float32[1x5x7x6] int64[8]={0,0,1,2,0,0,3,0}"},
      {"pad_wrap_3d", "pad mode=wrap | float32[1x8x3x4x5] int64[10]={0,0,1,1,2,0,0,1,0,2}"},
      {"transpose_to_last", "transpose permutation=[0,2,3,1] | float32[1x12x5x7]"},
      {"transpose_from_last", "transpose permutation=[0,3,1,2] | float32[2x5x7x12]"},
      {"transpose_matrix", "transpose permutation=[1,0] | float32[37x41]"},
      {"transpose_heads", "transpose permutation=[0,2,1,3] | float32[1x12x4x16]"},
      {"transpose_shuffle", "transpose permutation=[0,2,1,3,4] | float32[1x2x8x5x5]"},
      {"reshape", "reshape | float32[1x12x4x4] int64[2]={1,-1}"},
      {"reshape_last", "reshape | float32[1x6x5x8] int64[3]={1,-1,2}"},
      {"flatten", "flatten axis=1 | float32[1x40x1x1]"},
      {"flatten_planes", "flatten axis=1 | float32[2x8x3x3]"},
      {"squeeze", "squeeze | float32[1x40x1x1] int64[2]={2,3}"},
      {"unsqueeze", "unsqueeze | float32[1x40] int64[2]={2,3}"},
      {"identity", "identity | float32[2x3x4x5]"},
      {"cast", "cast to=int32 | float32[3x7]"},
      {"cast_to_float", "cast to=float32 | int64[3x7]"},
      {"cast_to_boolean", "cast to=boolean | float32[3x7]"},
      {"gather", "gather axis=0 | float32[10x4] int64[3]={7,0,-1}"},
      {"gather_embedding", "gather axis=0 | w:float32[30x16] int64[2x5]"},
      {"gather_middle", "gather axis=1 | float32[2x5x3] int32[4]"},
      {"resize_nearest",
       "resize mode=nearest coordinates=asymmetric rounding=floor | float32[1x8x4x4] _ "
       "int64[4]={1,8,8,8}"},
      {"resize_nearest_odd_channels",
       "resize mode=nearest coordinates=half_pixel rounding=round_prefer_floor | float32[2x5x4x6] "
       "_ int64[4]={2,5,7,13}"},
      {"resize_linear",
       "resize mode=linear coordinates=half_pixel | float32[2x16x5x7] _ int64[4]={2,16,11,14}"},
      {"resize_linear_corners",
       "resize mode=linear coordinates=align_corners | float32[1x21x9x9] _ int64[4]={1,21,33,33}"},
      {"resize_linear_smaller",
       "resize mode=linear coordinates=half_pixel antialias=true | float32[1x8x12x10] _ "
       "int64[4]={1,8,5,4}"},
      {"resize_linear_thumbnail",
       "resize mode=linear coordinates=half_pixel antialias=true | float32[1x8x96x90] _ "
       "int64[4]={1,8,3,2}"},
      {"resize_cubic",
       "resize mode=cubic coordinates=half_pixel | float32[1x8x6x5] _ int64[4]={1,8,9,13}"},
      {"resize_cubic_inside",
       "resize mode=cubic coordinates=asymmetric exclude_outside=true | float32[1x3x6x5] _ "
       "int64[4]={1,3,9,13}"},
      {"resize_linear_3d",
       "resize mode=linear coordinates=half_pixel | float32[1x8x3x4x5] _ int64[5]={1,8,6,8,10}"},

      {"nchw_to_nhwc", "reformat | float32[1x3x33x31] | float32:linear -> float32:nhwc"},
      {"nchw_to_nhwc_wide", "reformat | float32[2x64x9x9] | float32:linear -> float32:nhwc"},
      {"nhwc_to_nchw", "reformat | float32[2x40x7x9] | float32:nhwc -> float32:linear"},
      {"nchw_to_blocked_16", "reformat | float32[1x32x7x9] | float32:linear -> float32:nChw16c"},
      {"blocked_16_to_nchw", "reformat | float32[1x32x7x9] | float32:nChw16c -> float32:linear"},
      {"nhwc_to_blocked_16", "reformat | float32[2x48x7x9] | float32:nhwc -> float32:nChw16c"},
      {"blocked_16_to_nhwc", "reformat | float32[2x48x7x9] | float32:nChw16c -> float32:nhwc"},
      {"nhwc_to_blocked_8", "reformat | float32[1x24x7x9] | float32:nhwc -> float32:nChw8c"},
      {"blocked_8_to_nhwc", "reformat | float32[1x24x7x9] | float32:nChw8c -> float32:nhwc"},
      {"nchw_to_blocked_padded", "reformat | float32[1x3x9x9] | float32:linear -> float32:nChw8c"},
      {"nwc", "reformat | float32[2x5x9] | float32:linear -> float32:nhwc"},
  };
}

}  // namespace enginery
