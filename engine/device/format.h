// Format: how a tensor's elements lie in device memory (element type and layout).
#pragma once

#include <string>

#include "enginery/types.h"

namespace enginery {

enum class LayoutKind : uint8_t {
  linear,         // row-major in the tensor's own dimension order (NCHW for images)
  channels_last,  // N, spatial..., C (NHWC); for rank >= 3
  blocked,  // N, C/block, spatial..., block (nChw16c); channels padded with zeros to the block
};

struct Layout {
  LayoutKind kind = LayoutKind::linear;
  int32_t block =
      0;  // blocked: 8 or 16; channels_last: channels padded to a multiple (0 = not padded)
  // channels_last, unpadded: channels from one pixel to the next, where the tensor is some of the
  // channels of a wider one (0 = its own).
  int32_t pitch = 0;
  auto operator<=>(const Layout&) const = default;
};

struct Format {
  DataType type = DataType::float32;
  Layout layout;
  auto operator<=>(const Format&) const = default;
};

std::string to_string(const Layout& layout);  // "linear", "nhwc", "nhwc8", "nhwc/256", "nChw16c"
std::string to_string(const Format& format);  // "float32:nhwc"
Result<Format> parse_format(std::string_view text);

// Dimension 1 with its padding; 1 for tensors of rank below 2.
int64_t padded_channels(const Dims& dims, const Layout& layout);
// Bytes that a tensor of static dims takes in this format, padding included; with a pitch from its
// first element to its last, what lies between its pixels included.
int64_t physical_bytes(const Dims& dims, const Format& format);

// Whether the tensor is some of the channels of a wider one.
inline bool has_pitch(const Format& format) {
  return format.layout.pitch != 0;
}
// The format of the tensor as a part of one of `channels` channels.
Format with_pitch(const Format& format, int64_t channels);
// The same tensor on its own.
Format without_pitch(const Format& format);
// What kernels load and store at once.
inline constexpr int64_t kPieceBytes = 16;
// Whether a tensor of these dims can have the format: one with a pitch has pixels, is not padded
// and no wider than the pitch, and pieces of kPieceBytes make up its channels as well as the pitch.
bool fits_pitch(const Dims& dims, const Format& format);

// Whether both formats put every element at the same address for these dims (e.g. nhwc and linear
// at 1x1 planes).
bool same_placement(const Dims& dims, const Format& a, const Format& b);

}  // namespace enginery
