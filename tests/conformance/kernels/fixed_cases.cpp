#include "tests/conformance/kernels/fixed_cases.h"

namespace enginery {

std::span<const FixedCase> fixed_cases() {
  static constexpr FixedCase kCases[] = {
      // 25 output pixels: the last row of a tile's second half is just past the end.
      {"conv_3x3_deep", 90, "conv_mma/fp16_32x64x128b_s4_k4("},
      {"conv_3x3_deep", 90, "conv_mma/fp16_32x64x128b_s4_c2("},
      {"conv_3x3", 90, "conv_mma/fp16_64x32x128b_s4("},
      {"conv_1x1_residual", 90, "conv_mma/tf32_32x32x128b_s5("},
      {"conv_odd_channels", 90, "conv_mma/fp16_32x32x128b_s5("},
      {"conv_3x3_deep", 75, "conv_mma/fp16_64x64x64b_s2_k4("},
      {"conv_1x1_residual", 75, "conv_mma/fp16_64x64x64b_s2("},
      {"conv_3x3", 61, "conv_simt/32x32x16(float32"},
      {"conv_1x1_residual", 61, "conv_simt/64x64x16(float32"},
      {"conv_3x3_deep", 61, "conv_simt/64x64x16_k4(float16"},
      {"conv_odd_channels", 61, "conv_simt/64x32x16(float32"},
      {"conv_groups_4", 61, "conv_direct/any(float32"},
      {"deconv_3x3_output_padding", 61, "deconv/gather(float32"},
      {"deconv_groups", 61, "deconv/gather(float16"},
      {"conv_depthwise_stride_2", 61, "depthwise/strip2(float16"},
      {"conv_depthwise_odd_channels", 61, "depthwise/strip1(float32"},
      {"gemm_5xN_relu", 61, "gemv/rows4(float32"},
      {"gemm_1xN", 61, "gemv/rows1(float16"},
      {"matmul_batched_tiles", 61, "product/64x64x16(float32"},
      {"gemm_transpose_a", 61, "product/64x64x16(float32"},
      {"gemm_1xN", 61, "product/64x64x16(float32"},
      {"max_pool_3x3_s2", 61, "pool/window(float16"},
      {"average_pool_3x3", 61, "pool/window(float32"},
      {"average_pool_counting_padding", 61, "pool/window(float32"},
      {"average_pool_ceil_counting", 61, "pool/window(float32"},
      {"global_average", 61, "pool/global(float32"},
      {"global_max", 61, "pool/global(float16"},
      {"reduce_mean_spatial", 61, "reduce/threads(float32"},
      {"reduce_sum_last", 61, "reduce/warps(float32"},
      {"reduce_mean_last_wide", 61, "reduce/blocks(float16"},
      {"softmax_rows", 61, "softmax/rows(float32"},
      // More elements than a warp has lanes: every warp has a part of the sum.
      {"softmax_1000", 61, "softmax/rows(float32:linear"},
      {"softmax_channels", 61, "softmax/rows(float32:linear"},
      {"log_softmax", 61, "softmax/rows(float32"},
      {"lrn_5", 61, "lrn/channels(float32"},
      {"batch_norm", 61, "pointwise/flat(float32"},
      {"add_per_row", 61, "pointwise/flat(float16"},
      {"mul_channels", 61, "pointwise/flat(float32"},
      {"concat_middle", 61, "copy/strided(float16"},
      {"transpose_matrix", 61, "copy/strided(float32"},
      {"slice_negative_step", 61, "copy/strided(float32"},
      {"gather_middle", 61, "gather/slices(float32"},
      {"gather_embedding", 61, "gather/slices(float16"},
      {"pad_constant", 61, "sample/taps(float32"},
      {"pad_value", 61, "sample/taps(float32"},
      {"resize_linear", 61, "sample/taps(float16"},
      {"cast", 61, "cast/flat("},
      {"cast_to_boolean", 61, "cast/flat("},
      {"nchw_to_nhwc_wide", 61, "reformat/gather("},
      {"nchw_to_nhwc", 61, "reformat/tile_to_nhwc("},
      {"nhwc_to_nchw", 61, "reformat/tile_to_linear("},
      {"cast to=float16 | float32[5x7]", 61, "reformat/rows("},
  };
  return kCases;
}

}  // namespace enginery
