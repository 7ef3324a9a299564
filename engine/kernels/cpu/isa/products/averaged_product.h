// Products of a picture's averages: what a classifier makes of the last features.
//
// Filled by engine/tactics/cpu/kernel/averaged_product.cpp, which knows the problem; the kernel
// checks nothing.
#pragma once

#include "engine/kernels/cpu/isa/products/gemv.h"

namespace enginery {

// product.y = clip(averages * product.w + bias), where averages[m, c] is the mean over the pixels
// of channel c of picture m, of product.m pictures with product.k channels. product.x is not read.
struct AveragedProductArguments {
  const float* in;
  float* averages;  // m * k
  int64_t pixels;
  int64_t in_image, in_vector, in_pixel;  // floats between pictures, vectors of channels, pixels
  bool planes;  // a channel's pixels lie side by side, one channel after the other
  GemvArguments product;
};

}  // namespace enginery
