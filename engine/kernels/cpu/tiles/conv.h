// Convolutions in bfloat16 as products in tiles, channels-last.
//
// Filled by engine/tactics/cpu/kernel/tile_conv.cpp, which knows the problem; the kernel checks
// nothing.
#pragma once

#include "engine/kernels/cpu/tiles/product.h"

namespace enginery {

// Windows on images of two spatial dimensions (one: height 1).
struct TileWindow {
  int64_t n, channels, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
};

// Where the rows of the product come from.
enum class TileRows {
  pixels,    // of a 1x1 window: the images' pixels as they lie
  padded,    // of windows of stride 1: a copy of the images with their padding, in which what lies
             // under a tap are pixels side by side; each tap is a piece of the rows
  gathered,  // a copy for each pixel, tap by tap, of what lies under its window
};

// `product` of the `m` pixels of all images, whose `x` are the images. Its `k` is a multiple of 32:
// for `padded` of each tap, whose channels end with zeros, else of all taps, behind which are
// zeros.
struct TileConvArguments {
  TileProductArguments product;
  TileRows rows_of;
  uint16_t* rows;  // the copies, of all threads
  int64_t chunk;   // `padded`: rows of the output at a time; `gathered`: pixels, a multiple of 32
  TileWindow window;
  int64_t in_pixel;  // values from one pixel to the next
};

}  // namespace enginery
