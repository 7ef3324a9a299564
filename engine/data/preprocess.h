// What --preprocess FILE.toml says, and its application: a decoded picture becomes a network's
// float32 input.
//
// Grammar (engine/data/README.md): a table [input] for the only input, or [input.NAME] for each.
// Errors: invalid_argument for an unknown key, a wrong type or value, or a picture smaller than the
// crop.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "engine/data/picture.h"
#include "engine/data/resize.h"
#include "engine/tensor/tensor.h"

namespace enginery {

enum class ColorOrder { rgb, bgr, gray };
enum class PictureLayout { nchw, nhwc };

// The steps for one input, applied in the order of the members.
struct Preprocess {
  struct Size {
    int64_t height = 0;
    int64_t width = 0;
    bool operator==(const Size&) const = default;
  };
  std::optional<Size> resize;
  std::optional<int64_t> resize_short;  // the shorter side; the longer one follows, rounded down
  Filter filter = Filter::bilinear;
  std::optional<Size> crop;
  ColorOrder color = ColorOrder::rgb;
  std::vector<double> mean{0};   // one for all channels, or one each, in `color`'s order
  std::vector<double> scale{1};  // likewise; x becomes (x - mean) * scale, x in 0..255
  PictureLayout layout = PictureLayout::nchw;
};

// Steps by input name; the name "" holds the table [input].
using PreprocessTable = std::map<std::string, Preprocess>;

// `text` is the file's content, `name` names it in messages.
Result<PreprocessTable> parse_preprocess(std::string_view text, const std::string& name);
Result<PreprocessTable> read_preprocess(const std::filesystem::path& path);

// The dims that apply() gives for a picture of this size: C x H x W, or H x W x C for
// PictureLayout::nhwc. invalid_argument where it would refuse.
Result<Dims> preprocessed_dims(int64_t height, int64_t width, const Preprocess& steps);

// float32 of preprocessed_dims.
Result<Tensor> apply(const Picture& picture, const Preprocess& steps);

}  // namespace enginery
