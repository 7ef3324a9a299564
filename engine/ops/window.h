// Sliding windows over spatial dimensions: the geometry that convolution and pooling share.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

// One dimension's window.
struct Window {
  int64_t kernel = 1, stride = 1, dilation = 1, pad_begin = 0, pad_end = 0;
  // Input elements from the first to the last that a window touches. Requires a known kernel.
  int64_t extent() const { return (kernel - 1) * dilation + 1; }
};

// The operator's lists as they stand in its attributes, one entry a spatial dimension.
struct WindowLists {
  const std::vector<int64_t>&kernel, &strides, &dilations, &pads_begin, &pads_end;
};

// Checks lengths and ranges (kernel, strides, dilations >= 1, pads >= 0, all below 2^31; a kernel
// size may be a run-time one) and joins the lists.
Result<std::vector<Window>> make_windows(std::string_view op, size_t spatial,
                                         const WindowLists& lists);

enum class WindowRounding { floor, ceil };
// How many windows fit. `in` may be a run-time size: it stays itself where the window keeps sizes,
// else kDynamic.
Result<int64_t> windows_that_fit(std::string_view op, int64_t in, const Window& window,
                                 WindowRounding rounding);

// Up to three spatial dimensions as exactly three: missing ones come first, with size 1.
using Spatial = std::array<int64_t, 3>;
Spatial spatial_of(std::span<const int64_t> values, int64_t missing);

}  // namespace enginery
