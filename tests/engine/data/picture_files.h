// Pictures that tests make: encoded by the libraries themselves, so that no binary file has to be
// kept.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/picture.h"

namespace enginery {

// A folder that is removed with all it holds.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
};

// Smooth colours that differ at every pixel; `seed` moves them.
Picture test_picture(int64_t height, int64_t width, int seed = 0);

struct JpegOptions {
  int components =
      3;  // 1 takes the red samples as grey; 4 takes red, green, blue and a constant as CMYK
  int quality = 95;
  bool progressive = false;
};
std::string encode_jpeg(const Picture& picture, JpegOptions options = {});

// `samples` are height x width x channels(color_type) of `bit_depth` bits, packed as PNG packs
// them; `palette` has RGB triples.
struct PngImage {
  unsigned width = 0, height = 0;
  int bit_depth = 8, color_type = 2;
  std::string rows;  // height equal rows of bytes
  std::vector<uint8_t> palette;
  bool interlaced = false;
};
std::string encode_png(const PngImage& image);
std::string encode_png(const Picture& picture);

}  // namespace enginery
