// WindowSide: what a convolution's or pooling's window does along one spatial dimension.
//
// Where: shapes of convolutions and pooling. A dimension along which a window does not reach can be
// told as part of another: where channels are innermost, planes that a window looks at one by one
// are images, and rows of pixels that it looks at one by one are one long row. Threads: values and
// pure functions.
#pragma once

#include <vector>

#include "engine/ops/op.h"

namespace enginery {

struct WindowSide {
  int64_t in = 1, out = 1, taps = 1, stride = 1, dilation = 1, pad = 0, pad_end = 0;

  // Each output is made of its own input alone.
  bool is_plain() const { return taps == 1 && stride == 1 && pad == 0 && pad_end == 0; }
};

// Of each spatial dimension of x [N, C, spatial...] and y.
std::vector<WindowSide> window_sides(const Convolution& op, const Dims& x, const Dims& w,
                                     const Dims& y);
std::vector<WindowSide> window_sides(const Pooling& op, const Dims& x, const Dims& y);

// The same window over at most two dimensions, rows and columns, and the images that it is over:
// `images` times those planes that have become images.
struct PlaneWindow {
  int64_t images = 1;
  WindowSide rows, columns;
};
// Errors: unsupported (the window reaches along three dimensions, or there are more than three).
Result<PlaneWindow> plane_window(int64_t images, const std::vector<WindowSide>& sides);

}  // namespace enginery
