// ConvShape: convolutions and GEMMs with constant weights read as one thing: an implicit GEMM of m
// output pixels by k channels, over r x s x c.
//
// Where: the first thing that the convolution families of cuda/kernel, cuDNN and cuBLASLt ask of a
// problem. Threads: a value and pure functions.
#pragma once

#include <vector>

#include "engine/tactics/shapes/epilogue.h"
#include "engine/tactics/shapes/window_sides.h"

namespace enginery {

// Names as in CUTLASS: input [n][h][w][c], filter [k][r][s][c / groups], output [n][p][q][k]. One
// spatial dimension is w, q and s; h, p and r are 1 then. Three, of which the filter reaches along
// one or two, are two (plane_window()).
struct ConvShape {
  int64_t n = 1, h = 1, w = 1, c = 1, k = 1, r = 1, s = 1, p = 1, q = 1;
  int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, pad_h_end = 0, pad_w_end = 0;
  int64_t dilation_h = 1, dilation_w = 1, groups = 1;
  int64_t images = 1;                // n, but that n also counts planes (set_window())
  bool gemm = false;                 // a matrix product: x [m, c] and y [m, k] are linear, n is m
  bool weights_are_kc = false;       // gemm: weights are [k, c], not [c, k]
  float alpha = 1;                   // gemm: factor of the weights
  int64_t c_block = 8, k_block = 8;  // to what channels of x and of y are padded
  int64_t s_block = 1;               // to what a filter's columns are padded along K
  int64_t s_front = 0;               // of the padding those before the first column
  AnchorBias bias;

  // Rows of the GEMM: output pixels of all images.
  int64_t m() const { return n * p * q; }
  int64_t pixels_of_an_image() const { return m() / images; }
  double flops() const {
    return 2.0 * static_cast<double>(m() * k) * static_cast<double>(r * s * (c / groups));
  }
  // A plain GEMM: every output pixel reads just its own input pixel.
  bool pointwise() const {
    return r == 1 && s == 1 && stride_h == 1 && stride_w == 1 && pad_h == 0 && pad_w == 0 &&
           pad_h_end == 0 && pad_w_end == 0;
  }
  // K runs on over (r, s, c) without gaps, because channels are no multiple of the kernel's step
  // along K.
  bool flat(int64_t bk) const { return !pointwise() && c_pitch() % bk != 0 && r <= 16; }
  // Channels as they lie in memory: a GEMM's as they are, others padded.
  int64_t c_pitch() const { return gemm ? c : round_up(c, c_block); }
  int64_t k_pitch() const { return gemm ? k : round_up(k, k_block); }
  int64_t s_pitch() const { return round_up(s + s_front, s_block); }
  // The formats of x and y on a GPU: a GEMM's linear, others channels last.
  Format x_format(DataType type) const {
    return gemm ? Format{type, {}} : channels_last_format(type, c, c_block);
  }
  Format y_format(DataType type) const {
    return gemm ? Format{type, {}} : channels_last_format(type, k, k_block);
  }
};

// Errors: unsupported (another operator, weights that are not constant, a filter along three
// dimensions, a transposed input).
Result<ConvShape> conv_shape(const Problem& problem);

// What conv_shape() asks of a convolution or product before it looks at its window. Errors:
// unsupported.
Status require_product(const Problem& problem);

// n, `images` and all that the window decides. Errors: plane_window()'s.
Status set_window(ConvShape& shape, int64_t images, const std::vector<WindowSide>& sides);

// A transposed convolution, with sizes as a convolution's: [p, q] is the output, r and s the
// filter; strides and dilations spread the input. Errors: unsupported.
Result<ConvShape> deconv_shape(const Problem& problem);

// The problem's epilogue over y in `type`. Errors: unsupported (a step that GPU code does not
// fuse).
Result<LoweredEpilogue> lower_conv_epilogue(const Problem& problem, const ConvShape& shape,
                                            DataType type);

// The weights as float32 [k][r][s][c of the group]; a GEMM's are scaled by alpha.
std::vector<float> filter_krsc(const ConvShape& shape, const Tensor& weights);

// Bytes that x, w and y take in `type`, each once.
double conv_bytes(const ConvShape& shape, DataType type);

}  // namespace enginery
