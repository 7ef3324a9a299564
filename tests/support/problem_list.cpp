#include "tests/support/problem_list.h"

namespace enginery {

std::vector<ProblemRow> conformance_problems() {
  std::vector<ProblemRow> problems = {
      // name, who must offer (on a CPU / on a GPU), problem
      {"conv_3x3", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x32x9x11] "
       "w:float32[48x32x3x3] w:float32[48]"},
      {"conv_3x3_relu", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[2x32x14x14] "
       "w:float32[32x32x3x3] w:float32[32] | act kind=relu"},
      {"conv_3x3_epilogue_bias_clip", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x16x12x12] "
       "w:float32[16x16x3x3] | bias w:float32[16] | act kind=clip alpha=0 beta=6"},
      {"conv_3x3_residual_relu", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x32x10x10] "
       "w:float32[32x32x3x3] w:float32[32] | add float32[1x32x10x10] | act kind=relu"},
      {"conv_1x1_residual", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x7x7] "
       "w:float32[80x64x1x1] | add float32[1x80x7x7]"},
      {"conv_1x1_relu_then_add", "-/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x7x7] "
       "w:float32[32x32x1x1] | act kind=relu | add float32[1x32x7x7]"},
      {"conv_1x1_two_adds", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x7x7] "
       "w:float32[32x32x1x1] | add float32[1x32x7x7] | add float32[1x32x7x7] | act kind=relu"},
      {"conv_1x1_multiply_channels", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x32x5x5] "
       "w:float32[32x32x1x1] | multiply float32[1x32x1x1]"},
      {"conv_1x1_stride_2", "KO/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x14x14] "
       "w:float32[128x64x1x1] w:float32[128]"},
      {"conv_1x1_padded", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x64x13x13] "
       "w:float32[10x64x1x1] w:float32[10] | act kind=relu"},
      {"conv_1x1_padded_tail", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,2] pads_end=[1,2] | float32[2x19x6x15] "
       "w:float32[37x19x1x1] w:float32[37] | act kind=relu"},
      {"conv_1x1_many_pixels", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x32x41x23] "
       "w:float32[64x32x1x1] w:float32[64] | act kind=clip alpha=0 beta=6"},
      {"conv_1x1_deep_residual", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x320x7x7] "
       "w:float32[176x320x1x1] w:float32[176] | add float32[2x176x7x7] | act kind=relu"},
      {"conv_1x1_odd_channels", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x24x9x9] "
       "w:float32[23x24x1x1] | bias w:float32[23] | add float32[1x23x9x9]"},
      {"conv_1x1_stride_2_batch", "KO/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[3x32x15x13] "
       "w:float32[48x32x1x1] w:float32[48] | act kind=relu"},
      {"conv_1x1_one_pixel", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x64x1x1] "
       "w:float32[16x64x1x1] w:float32[16] | act kind=relu"},
      {"conv_1x1_1d", "KO/K",
       "conv strides=[1] dilations=[1] pads_begin=[0] pads_end=[0] | float32[2x16x33] "
       "w:float32[32x16x1] w:float32[32]"},
      {"conv_stem_7x7", "O/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[1x3x31x33] "
       "w:float32[64x3x7x7] w:float32[64] | act kind=relu"},
      {"conv_stem_7x7_even", "O/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[3,3] pads_end=[3,3] | float32[2x3x18x22] "
       "w:float32[24x3x7x7] w:float32[24] | act kind=relu"},
      {"conv_stem_3x3_no_padding", "O/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x3x32x32] "
       "w:float32[16x3x3x3] w:float32[16] | act kind=relu"},
      {"conv_patch_16x16", "O/K",
       "conv strides=[16,16] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x3x32x32] "
       "w:float32[96x3x16x16] w:float32[96]"},
      {"conv_odd_channels", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x5x9x9] "
       "w:float32[7x5x3x3] w:float32[7] | act kind=leaky_relu alpha=0.1"},
      {"conv_asymmetric_padding", "KO/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[1,1] | float32[1x16x16x16] "
       "w:float32[16x16x3x3] w:float32[16]"},
      {"conv_dilated", "KO/K",
       "conv strides=[1,1] dilations=[2,2] pads_begin=[2,2] pads_end=[2,2] | float32[1x16x15x15] "
       "w:float32[32x16x3x3] w:float32[32] | act kind=relu"},
      {"conv_dilated_5", "O/K",
       "conv strides=[1,1] dilations=[5,5] pads_begin=[5,5] pads_end=[5,5] | float32[1x12x15x20] "
       "w:float32[12x12x3x3] w:float32[12]"},
      {"conv_1x3", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,1] pads_end=[0,1] | float32[1x16x9x9] "
       "w:float32[24x16x1x3] w:float32[24]"},
      {"conv_3x3_deep", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[1x128x5x5] "
       "w:float32[40x128x3x3] w:float32[40] | add float32[1x40x5x5] | act kind=relu"},
      {"conv_1x1_deep", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[2x1032x4x5] "
       "w:float32[72x1032x1x1] w:float32[72] | act kind=relu"},
      {"conv_3x3_stride_2_deep", "O/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | float32[3x72x9x11] "
       "w:float32[136x72x3x3] w:float32[136] | act kind=swish"},
      {"conv_depthwise", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=32 | "
       "float32[1x32x14x14] w:float32[32x1x3x3] w:float32[32] | act kind=clip alpha=0 beta=6"},
      {"conv_depthwise_stride_2", "KO/K",
       "conv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=24 | "
       "float32[2x24x15x15] w:float32[24x1x3x3] w:float32[24] | act kind=relu"},
      {"conv_depthwise_odd_channels", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=19 | "
       "float32[1x19x9x9] w:float32[19x1x3x3] w:float32[19]"},
      {"conv_depthwise_5x5", "KO/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[2,2] pads_end=[2,2] groups=16 | "
       "float32[1x16x9x9] w:float32[16x1x5x5]"},
      {"conv_groups_4", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=4 | "
       "float32[1x32x9x9] w:float32[64x8x3x3] w:float32[64] | act kind=relu"},
      {"conv_hard_swish", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=hard_swish"},
      {"conv_swish", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=swish"},
      {"conv_sigmoid", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=sigmoid"},
      {"conv_gelu", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=gelu_erf"},
      {"conv_elu", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=elu alpha=1"},
      {"conv_hard_sigmoid", "O/K",
       "conv strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | float32[1x16x8x8] "
       "w:float32[16x16x1x1] w:float32[16] | act kind=hard_sigmoid alpha=0.2 beta=0.5"},
      {"conv_1d", "KO/K",
       "conv strides=[1] dilations=[1] pads_begin=[1] pads_end=[1] | float32[2x16x33] "
       "w:float32[16x16x3] w:float32[16] | act kind=relu"},
      {"deconv_2x2", "O/K",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] output_padding=[0,0] "
       "| float32[1x16x7x7] w:float32[16x8x2x2] w:float32[8]"},
      {"deconv_3x3_output_padding", "O/K",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] output_padding=[1,1] "
       "| float32[1x16x7x7] w:float32[16x24x3x3] w:float32[24] | act kind=relu"},
      {"deconv_groups", "O/K",
       "deconv strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] output_padding=[0,0] "
       "groups=4 | float32[1x16x7x7] w:float32[16x4x4x4]"},
      {"deconv_dilated_asymmetric", "O/K",
       "deconv strides=[2,1] dilations=[1,2] pads_begin=[1,0] pads_end=[0,2] output_padding=[0,0] "
       "| float32[2x5x6x7] w:float32[5x11x3x3] w:float32[11] | add float32[2x11x12x9]"},
      {"deconv_1d", "O/K",
       "deconv strides=[3] dilations=[1] pads_begin=[1] pads_end=[1] output_padding=[2] | "
       "float32[2x8x9] w:float32[8x16x5] w:float32[16]"},

      {"gemm_1xN", "KO/K",
       "gemm transpose_b=true | float32[1x200] w:float32[50x200] w:float32[50]"},
      {"gemm_5xN_relu", "KO/K",
       "gemm transpose_b=true | float32[5x64] w:float32[33x64] w:float32[33] | act kind=relu"},
      {"gemm_wide", "O/K",
       "gemm transpose_b=true | float32[20x264] w:float32[136x264] w:float32[136] | act kind=relu"},
      {"gemm_kn_factors", "KO/K",
       "gemm alpha=0.5 beta=2 | float32[3x40] w:float32[40x30] w:float32[1x30]"},
      {"gemm_scalar_addend", "KO/K",
       "gemm transpose_b=true | float32[2x32] w:float32[8x32] w:float32[1]"},
      {"gemm_epilogue_bias", "KO/K",
       "gemm transpose_b=true | float32[1x128] w:float32[96x128] | bias w:float32[96] | act "
       "kind=relu"},
      {"gemm_add", "O/K",
       "gemm transpose_b=true | float32[4x32] w:float32[16x32] w:float32[16] | add float32[4x16]"},
      {"gemm_run_time_b", "O/K", "gemm transpose_b=true | float32[4x32] float32[16x32]"},
      {"gemm_transpose_a", "O/K", "gemm transpose_a=true | float32[32x4] w:float32[32x16]"},
      {"matmul_2d", "KO/K", "matmul | float32[7x24] w:float32[24x20]"},
      {"matmul_bias", "KO/K", "matmul | float32[1x24] w:float32[24x20] | bias w:float32[20]"},
      {"matmul_batched", "O/K", "matmul | float32[2x3x7x16] float32[2x3x16x9]"},
      {"matmul_batched_weights", "O/K",
       "matmul | float32[2x7x16] w:float32[16x12] | bias w:float32[12]"},
      {"matmul_batched_weights_residual", "O/K",
       "matmul | float32[2x7x16] w:float32[16x12] | bias w:float32[12] | add float32[2x7x12]"},
      {"matmul_batched_weights_gelu", "O/K",
       "matmul | float32[2x7x16] w:float32[16x12] | bias w:float32[12] | act kind=gelu_erf alpha=0 "
       "beta=0"},
      {"matmul_broadcast_batch", "O/K", "matmul | float32[2x3x7x16] float32[1x3x16x9]"},
      {"matmul_vector", "-/K", "matmul | float32[7x16] float32[16]"},
      {"matmul_vector_first", "-/K", "matmul | float32[16] float32[3x16x10]"},
      {"matmul_batched_tiles", "O/K", "matmul | float32[2x70x40] float32[2x40x68] | act kind=relu"},
      {"matmul_batches_both_repeat", "O/K", "matmul | float32[3x1x5x16] float32[2x16x8]"},
      {"gemm_run_time_scaled", "-/K",
       "gemm alpha=0.5 beta=2 transpose_a=true | float32[24x70] float32[24x36] w:float32[36] | act "
       "kind=relu"},

      {"max_pool_3x3_s2", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
       "float32[1x32x15x17]"},
      {"max_pool_2x2", "K/K",
       "pool kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[2x16x8x8]"},
      {"max_pool_ceil", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] "
       "ceil_mode=true | float32[1x64x14x14]"},
      {"max_pool_odd_channels", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x19x13x13]"},
      {"max_pool_remainder", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x32x8x10]"},
      {"average_pool_remainder", "KO/K",
       "pool kind=average kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] | float32[1x16x7x9]"},
      {"max_pool_wide_padding_end", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[1,1] | "
       "float32[1x16x9x9]"},
      {"max_pool_dilated", "K/K",
       "pool kind=max kernel=[2,2] strides=[1,1] dilations=[2,2] pads_begin=[0,0] pads_end=[0,0] | "
       "float32[1x16x9x9]"},
      {"max_pool_relu", "K/K",
       "pool kind=max kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] | "
       "float32[1x16x9x9] | act kind=relu"},
      {"max_pool_1d", "K/K",
       "pool kind=max kernel=[3] strides=[2] dilations=[1] pads_begin=[1] pads_end=[1] | "
       "float32[1x16x21]"},
      {"average_pool_3x3", "KO/K",
       "pool kind=average kernel=[3,3] strides=[1,1] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] | float32[1x16x9x9]"},
      {"average_pool_counting_padding", "KO/K",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] count_padding=true | float32[1x16x9x9]"},
      {"average_pool_ceil", "KO/K",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
       "pads_end=[0,0] ceil_mode=true | float32[1x24x8x8]"},
      {"average_pool_ceil_counting", "K/K",
       "pool kind=average kernel=[3,3] strides=[2,2] dilations=[1,1] pads_begin=[1,1] "
       "pads_end=[1,1] ceil_mode=true count_padding=true | float32[1x16x8x8]"},
      {"global_average", "KO/K", "global_pool kind=average | float32[2x48x7x7]"},
      {"global_average_parts", "KO/K", "global_pool kind=average | float32[2x40x17x11]"},
      {"global_average_odd", "KO/K", "global_pool kind=average | float32[1x10x13x9]"},
      {"global_max", "K/K", "global_pool kind=max | float32[1x33x6x6]"},
      {"reduce_mean_spatial", "K/K",
       "reduce kind=mean axes=[2,3] keep_dims=false | float32[2x40x5x7]"},
      {"reduce_mean_keep", "K/K", "reduce kind=mean axes=[2,3] keep_dims=true | float32[1x16x7x7]"},
      {"reduce_sum_last", "K/K", "reduce kind=sum axes=[-1] keep_dims=true | float32[4x7x33]"},
      {"reduce_max_first", "K/K", "reduce kind=max axes=[0] keep_dims=false | float32[6x35]"},
      {"reduce_mean_last_wide", "-/K",
       "reduce kind=mean axes=[-1] keep_dims=true | float32[6x1030] | act kind=relu"},
      {"reduce_l2_all", "K/K", "reduce kind=l2 axes=[] keep_dims=true | float32[3x50x7]"},
      {"reduce_mean_apart", "K/K",
       "reduce kind=mean axes=[1,3] keep_dims=true | float32[2x7x5x12]"},
      {"reduce_l1_apart", "K/K", "reduce kind=l1 axes=[0,2] keep_dims=false | float32[3x5x40]"},
      {"reduce_log_sum_exp", "K/K",
       "reduce kind=log_sum_exp axes=[1] keep_dims=true | float32[7x301]"},
      {"reduce_log_sum_exp_apart", "K/K",
       "reduce kind=log_sum_exp axes=[0,2] keep_dims=false | float32[3x5x70x9]"},
      {"reduce_prod", "K/K", "reduce kind=prod axes=[1] keep_dims=false | float32[5x6x3]"},
      {"reduce_sum_int64", "K/K", "reduce kind=sum axes=[1] keep_dims=false | int64[5x300]"},
      {"reduce_prod_int32", "K/K", "reduce kind=prod axes=[0,2] keep_dims=true | int32[3x5x2]"},
      {"reduce_max_int64", "K/K", "reduce kind=max axes=[0] keep_dims=false | int64[24x70]"},
      {"reduce_min_int32", "K/K", "reduce kind=min axes=[] keep_dims=false | int32[9x300]"},
      {"reduce_min_middle", "K/K", "reduce kind=min axes=[1] keep_dims=false | float32[5x9x130]"},

      {"softmax_rows", "K/K", "softmax axis=-1 | float32[37x21]"},
      {"softmax_two", "K/K", "softmax axis=2 | float32[1x442x2]"},
      {"softmax_channels", "K/K", "softmax axis=1 | float32[1x21x9x9]"},
      {"softmax_1000", "K/K", "softmax axis=1 | float32[1x1000]"},
      {"softmax_1000x1x1", "K/K", "softmax axis=1 | float32[1x1000x1x1]"},
      {"log_softmax", "K/K", "softmax axis=-1 log=true | float32[5x30]"},
      {"lrn_5", "KO/K", "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[1x32x7x7]"},
      {"lrn_3", "KO/K", "lrn size=3 alpha=0.3 beta=0.5 bias=2 | float32[2x20x5x5]"},
      {"lrn_even", "K/K", "lrn size=4 alpha=0.5 beta=1 bias=1 | float32[2x24x3x5]"},
      {"lrn_odd_channels", "K/K", "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[2x13x4x6]"},
      {"lrn_more_than_channels", "K/K",
       "lrn size=11 alpha=0.4 beta=0.75 bias=1.5 | float32[1x6x5x5]"},
      {"lrn_1d_any_power", "K/K", "lrn size=7 alpha=0.7 beta=0.6 bias=1 | float32[2x16x33]"},
      {"lrn_3d", "K/K", "lrn size=3 alpha=0.5 beta=0.5 bias=2 | float32[1x20x2x3x5]"},
      {"lrn_matrix", "-/K", "lrn size=5 alpha=0.5 beta=0.75 bias=1 | float32[5x19]"},
      {"lrn_wide", "K/K", "lrn size=31 alpha=0.9 beta=0.75 bias=1 | float32[1x40x3x3]"},
      {"lrn_one", "K/K", "lrn size=1 alpha=0.5 beta=1.5 bias=1 | float32[1x8x3x4]"},
      {"lrn_negative_base", "K/K", "lrn size=2 alpha=-0.5 beta=2 bias=-1 | float32[1x16x2x7]"},
      {"batch_norm", "KO/K",
       "batch_norm epsilon=0.001 | float32[2x24x7x7] w:float32[24] w:float32[24] w:float32[24] "
       "w:float32[24]"},
      {"batch_norm_2d", "K/K",
       "batch_norm epsilon=0.001 | float32[5x24] w:float32[24] w:float32[24] w:float32[24] "
       "w:float32[24]"},

      {"layer_norm", "K/K", "layer_norm axis=-1 | float32[2x37x192] w:float32[192] w:float32[192]"},
      {"layer_norm_short", "K/K",
       "layer_norm axis=-1 | float32[3x5x7x24] w:float32[24] w:float32[24]"},
      {"layer_norm_odd", "K/K", "layer_norm axis=-1 | float32[5x77] w:float32[77] w:float32[77]"},
      {"layer_norm_planes", "K/K",
       "layer_norm axis=1 | float32[3x6x5x8] w:float32[6x5x8] w:float32[5x1]"},
      {"layer_norm_wide", "K/K", "layer_norm axis=-1 | float32[3x3072] w:float32[3072]"},
      {"layer_norm_longest", "K/K",
       "layer_norm axis=-1 | float32[2x40004] w:float32[40004] w:float32[40004]"},
      {"layer_norm_run_time", "K/K", "layer_norm axis=-1 | float32[7x64] float32[64] float32[64]"},
      {"layer_norm_add_relu", "-/K",
       "layer_norm axis=-1 | float32[2x9x64] w:float32[64] w:float32[64] | add float32[2x9x64] | "
       "act kind=relu"},
      {"rms_norm", "K/K", "rms_norm axis=-1 | float32[2x9x128] w:float32[128]"},
      {"rms_norm_planes", "K/K", "rms_norm axis=-2 | float32[2x9x11x13] w:float32[11x13]"},
      {"group_norm", "K/K", "group_norm groups=4 | float32[2x24x7x9] w:float32[24] w:float32[24]"},
      {"group_norm_swish", "-/K",
       "group_norm groups=2 | float32[2x16x8x8] w:float32[16] w:float32[16] | act kind=swish"},
      {"group_norm_vectors", "K/K",
       "group_norm groups=3 | float32[4x24] w:float32[24] w:float32[24]"},
      {"instance_norm", "K/K", "instance_norm | float32[2x6x17x12] w:float32[6] w:float32[6]"},
      {"instance_norm_1d_relu", "K/K",
       "instance_norm | float32[3x4x50] w:float32[4] w:float32[4] | act kind=relu"},

      {"relu", "K/K", "act kind=relu | float32[2x20x5x5]"},
      {"clip", "K/K", "act kind=clip alpha=0 beta=6 | float32[1x16x5x5]"},
      {"mish", "KO/K", "act kind=mish | float32[3x50]"},
      {"softsign", "K/K", "act kind=softsign | float32[3x50]"},
      {"selu", "K/K", "act kind=selu alpha=1.6733 beta=1.0507 | float32[3x50]"},
      {"thresholded_relu", "K/K", "act kind=thresholded_relu alpha=0.3 | float32[1x16x4x4]"},
      {"unary_exp", "K/K", "unary kind=exp | float32[1x8x5x5]"},
      {"unary_exp_long", "K/K", "unary kind=exp | float32[1x4420x2]"},
      {"concat_pairs", "K/K", "concat axis=2 | float32[1x300x2] float32[1x300x2]"},
      {"concat_threes", "K/K", "concat axis=2 | float32[1x300x3] float32[1x300x1]"},
      {"unary_sqrt", "K/K", "unary kind=sqrt | float32[11x7]"},
      {"unary_neg", "K/K", "unary kind=neg | float32[1x16x4x4]"},
      {"prelu", "K/K", "prelu | float32[1x16x5x5] w:float32[16x1x1]"},
      {"add_same", "KO/K", "binary kind=add | float32[1x32x6x6] float32[1x32x6x6]"},
      {"add_same_relu", "KO/K",
       "binary kind=add | float32[1x32x6x6] float32[1x32x6x6] | act kind=relu"},
      {"mul_channels", "KO/K", "binary kind=mul | float32[1x32x6x6] float32[1x32x1x1]"},
      {"mul_first_broadcast", "K/K", "binary kind=mul | float32[1x32x1x1] float32[2x32x6x6]"},
      {"sub_scalar_constant", "KO/K", "binary kind=sub | float32[1x16x6x6] w:float32[1]"},
      {"sub_constant_first", "K/K", "binary kind=sub | w:float32[1] float32[1x16x6x6]"},
      {"div_last", "KO/K", "binary kind=div | float32[1x442x2] w:float32[2]"},
      {"add_per_row", "KO/K", "binary kind=add | float32[1x442x4] w:float32[1x442x1]"},
      {"mul_whole_constant", "KO/K", "binary kind=mul | float32[1x442x2] w:float32[1x442x2]"},
      {"add_whole_constant_image", "KO/K",
       "binary kind=add | float32[2x16x5x6] w:float32[2x16x5x6] | act kind=relu"},
      {"max_same", "K/K", "binary kind=max | float32[7x9] float32[7x9]"},
      {"pow", "K/K", "binary kind=pow | float32[5x7] float32[7]"},
      {"pow_constant", "K/K", "binary kind=pow | float32[3x70] w:float32[1]"},
      {"pow_constant_first", "K/K", "binary kind=pow | w:float32[1] float32[3x70]"},
      {"unary_sin", "K/K", "unary kind=sin | float32[3x70]"},
      {"unary_cos", "K/K", "unary kind=cos | float32[1x16x4x4]"},
      {"unary_round", "K/K", "unary kind=round | float32[3x70]"},
      {"unary_atan", "K/K", "unary kind=atan | float32[3x70]"},
      {"add_anchors_to_each_row", "KO/K", "binary kind=add | float32[8x442x4] w:float32[1x442x4]"},
      {"add_constant_per_image", "KO/K",
       "binary kind=add | float32[3x16x5x6] w:float32[1x16x5x6] | act kind=relu"},
      {"mul_spatial_gate", "KO/K",
       "binary kind=mul | float32[2x16x5x6] float32[2x1x5x6] | act kind=relu"},
      {"sub_both_repeat", "K/K", "binary kind=sub | float32[4x1x6] float32[5x1]"},
      {"relu_add_repeated", "K/K",
       "act kind=relu | float32[2x8x5x6] | add float32[2x1x1x6] | multiply w:float32[8x5x1]"},
      {"equal_int64", "K/K", "binary kind=equal | int64[2x1x9] int64[7x1]"},
      {"less_floats", "K/K", "binary kind=less | float32[4x33] float32[33]"},
      {"logical_and", "K/K", "binary kind=logical_and | boolean[2x1x9x9] w:boolean[9x9]"},
      {"logical_not", "K/K", "unary kind=logical_not | boolean[3x40]"},
      {"sub_int64_constant_first", "K/K", "binary kind=sub | w:int64[1] int64[2x9]"},
      {"equal_bytes", "K/K", "binary kind=equal | uint8[3x70] uint8[3x1]"},
      {"greater_half", "K/K", "binary kind=greater | float16[5x1x33] float16[7x33]"},
      {"greater_equal_column", "K/K", "binary kind=greater_equal | int32[9x1] int32[9x40]"},
      {"less_equal_double", "K/K", "binary kind=less_equal | float64[7x5] float64[]"},
      {"logical_xor", "K/K", "binary kind=logical_xor | boolean[6x1] boolean[1x37]"},
      {"is_nan", "K/K", "unary kind=is_nan | float32[4x37]"},
      {"neg_int32", "K/K", "unary kind=neg | int32[5x7]"},
      {"abs_int64", "K/K", "unary kind=abs | int64[5x7]"},
      {"abs_int8", "K/K", "unary kind=abs | int8[5x70]"},
      {"sign_int32", "K/K", "unary kind=sign | int32[5x7]"},
      {"mul_int32", "K/K", "binary kind=mul | int32[4x1x9] int32[3x1]"},
      {"max_int8", "K/K", "binary kind=max | int8[4x90] w:int8[90]"},
      {"bitwise_and_int64", "K/K", "binary kind=bitwise_and | int64[4x9] int64[1]={7}"},
      {"div_int64", "K/K", "binary kind=div | int64[4x9] int64[1]={-3}"},
      {"div_int32_by_row", "K/K", "binary kind=div | int32[4x3] int32[3]={2,-1,7}"},
      {"div_uint8", "K/K", "binary kind=div | uint8[4x9] uint8[]={5}"},
      {"mod_int64", "K/K", "binary kind=mod | int64[4x3] int64[3]={5,-7,-1}"},
      {"mod_int8", "K/K", "binary kind=mod | int8[4x90] int8[1]={6}"},
      {"fmod_int32", "K/K", "binary kind=fmod | int32[4x3] int32[3]={5,-7,-1}"},
      {"bitwise_or_int32", "K/K", "binary kind=bitwise_or | int32[4x9] int32[4x9]"},
      {"bitwise_xor_uint8", "K/K", "binary kind=bitwise_xor | uint8[4x9] uint8[1x9]"},
      {"cum_sum_rows", "K/K", "cum_sum | float32[3x70] int64[]={1}"},
      {"cum_sum_columns", "K/K", "cum_sum exclusive=true | float32[2x9x70] int64[]={-2}"},
      {"cum_sum_reverse", "K/K", "cum_sum reverse=true exclusive=true | int64[2x9x3] int32[]={1}"},
      {"cum_sum_int32", "K/K", "cum_sum reverse=true | int32[5x66] int64[]={0}"},
      {"top_k_rows", "K/K", "top_k axis=-1 | float32[3x1000] int64[1]={5}"},
      {"top_k_columns", "K/K", "top_k axis=1 largest=false | float32[2x37x5] int64[1]={9}"},
      {"top_k_all", "K/K", "top_k axis=0 | float32[70] int64[1]={70}"},
      {"top_k_half", "-/K", "top_k axis=1 | float16[2x300x3] int64[1]={4}"},
      {"top_k_ties", "K/K", "top_k axis=-1 | int32[3x600] int64[1]={600}"},
      {"cum_sum_half", "-/K", "cum_sum | float16[3x300] int64[]={-1}"},
      {"top_k_int64", "K/K", "top_k axis=-1 largest=false | int64[4x90] int64[1]={11}"},
      {"where", "K/K", "select | boolean[2x9x16] float32[2x9x16] float32[2x9x16]"},
      {"where_mask", "K/K", "select | boolean[2x1x9x9] float32[2x3x9x9] w:float32[1]"},
      {"where_constant_mask", "K/K", "select | w:boolean[1x1x9x9] float32[2x3x9x9] float32[]"},
      {"where_int64", "K/K", "select | boolean[5x1] int64[7] int64[5x7]"},
      {"quantize", "K/K", "quantize to=uint8 | float32[2x9x7] w:float32[] uint8[]={250}"},
      {"quantize_channels", "K/K", "quantize axis=1 | float32[2x5x4x3] w:float32[5]"},
      {"dequantize_last", "K/K",
       "dequantize axis=-1 | int8[6x3x4] w:float32[4] int8[4]={1,-2,0,7}"},
      {"dequantize_16", "K/-", "dequantize | uint16[3x50] w:float32[1] uint16[1]={700}"},
      {"arg_max_channels", "K/K", "arg_extreme axis=1 | float32[2x21x9x11]"},
      {"arg_max_rows", "K/K", "arg_extreme axis=-1 | float32[3x1000]"},
      {"arg_max_tokens", "K/K", "arg_extreme axis=-1 keep_dims=false | int32[2x77]"},
      {"arg_min_int64", "K/K", "arg_extreme largest=false axis=1 select_last=true | int64[3x9x70]"},
      {"arg_max_half", "-/K", "arg_extreme axis=1 select_last=true | float16[4x300x3]"},
      {"arg_min_last", "K/K",
       "arg_extreme largest=false axis=-1 keep_dims=false select_last=true | float32[5x37]"},
  };
  for (const auto& more :
       {attention_problems(), volume_problems(), float64_problems(), moving_problems()})
    problems.insert(problems.end(), more.begin(), more.end());
  return problems;
}

std::vector<ProblemRow> conformance_rows() {
  std::vector<ProblemRow> rows = conformance_problems();
  for (const auto& more : {quantized_problems(), conformance_regions()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::vector<std::string_view> required_sources(const ProblemRow& row, DeviceKind device) {
  const size_t slash = row.required.find('/');
  const std::string_view letters =
      device == DeviceKind::cpu ? row.required.substr(0, slash) : row.required.substr(slash + 1);
  std::vector<std::string_view> sources;
  for (const char letter : letters) {
    if (letter == 'K') sources.push_back("kernel");
    if (letter == 'O') sources.push_back("onednn");
  }
  return sources;
}

}  // namespace enginery
