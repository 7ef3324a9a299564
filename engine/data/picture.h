// Pictures: JPEG and PNG files decoded to 8-bit RGB, byte for byte as Pillow's
// open().convert("RGB") gives them.
//
// Where: below preprocess and input_set. Threads: free functions, safe from many threads.
// Errors: invalid_argument for a file that is not a picture, is cut short or has more than
// kMaxPicturePixels.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

// 2^27 pixels: decoding one, progressive JPEG included, stays under 1.5 GB.
inline constexpr int64_t kMaxPicturePixels = int64_t{1} << 27;
inline constexpr int64_t kPictureChannels = 3;

// An RGB picture, row-major, height x width x 3. A value.
struct Picture {
  int64_t height = 0;
  int64_t width = 0;
  std::vector<uint8_t> rgb;

  const uint8_t* at(int64_t y, int64_t x) const {
    return rgb.data() + (y * width + x) * kPictureChannels;
  }
};

bool looks_like_picture(std::string_view bytes);  // by its magic bytes: JPEG or PNG

Result<Picture> decode_picture(std::string_view bytes);
Result<Picture> read_picture(const std::filesystem::path& path);

}  // namespace enginery
