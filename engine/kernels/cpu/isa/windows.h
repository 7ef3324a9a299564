// Which places of a window lie inside the image, for kernels that pool. Everything here has
// internal linkage: see kernels.h.
#pragma once

#include "engine/kernels/cpu/isa/simd.h"

namespace enginery {
namespace {

// The part of a window that lies inside the input: kernel indices [begin, end) and the input
// position of index 0.
struct Span {
  int64_t begin, end, origin;
};

inline Span span_of(int64_t out, int64_t stride, int64_t pad, int64_t dilation, int64_t kernel,
                    int64_t in) {
  const int64_t origin = out * stride - pad;
  const int64_t begin = origin < 0 ? (-origin + dilation - 1) / dilation : 0;
  const int64_t end = origin >= in ? 0 : least(kernel, (in - origin + dilation - 1) / dilation);
  return {begin, most(begin, end), origin};
}

// How many window positions an average's divisor counts: inside the input, or inside input and
// stated padding.
inline int64_t counted(const Span& s, int64_t kernel, int64_t dilation, int64_t in, int64_t pad_end,
                       bool padding) {
  return padding ? least(kernel, (in + pad_end - s.origin + dilation - 1) / dilation)
                 : s.end - s.begin;
}

}  // namespace
}  // namespace enginery
