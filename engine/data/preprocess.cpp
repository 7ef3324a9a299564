#include "engine/data/preprocess.h"

#include <algorithm>

namespace enginery {
namespace {

std::string size_text(int64_t height, int64_t width) {
  return std::to_string(height) + " x " + std::to_string(width);
}

Result<Preprocess::Size> resized(const Preprocess::Size& from, const Preprocess& steps) {
  Preprocess::Size size = steps.resize.value_or(from);
  if (steps.resize_short) {
    const int64_t shorter = std::min(from.height, from.width);
    size = {*steps.resize_short * from.height / shorter,
            *steps.resize_short * from.width / shorter};
  }
  if (size.height <= kMaxPicturePixels / size.width) return size;
  return Error{ErrorCode::invalid_argument, "resizing to " + size_text(size.height, size.width) +
                                                " gives more than 2^27 pixels"};
}

Result<Preprocess::Size> cropped(const Preprocess::Size& from, const Preprocess& steps) {
  if (!steps.crop) return from;
  if (steps.crop->height <= from.height && steps.crop->width <= from.width) return *steps.crop;
  return Error{ErrorCode::invalid_argument,
               "crop " + size_text(steps.crop->height, steps.crop->width) + " of a picture of " +
                   size_text(from.height, from.width) + " (height x width); resize it first"};
}

Dims dims_of(const Preprocess::Size& size, const Preprocess& steps) {
  const int64_t channels = steps.color == ColorOrder::gray ? 1 : kPictureChannels;
  return steps.layout == PictureLayout::nchw ? Dims{channels, size.height, size.width}
                                             : Dims{size.height, size.width, channels};
}

// One sample of output channel `channel`.
uint8_t sample(const uint8_t* rgb, ColorOrder color, int64_t channel) {
  if (color == ColorOrder::rgb) return rgb[channel];
  if (color == ColorOrder::bgr) return rgb[2 - channel];
  return static_cast<uint8_t>((rgb[0] * 19595 + rgb[1] * 38470 + rgb[2] * 7471 + 0x8000) >>
                              16);  // Pillow's "L"
}

float value_of(const std::vector<double>& values, int64_t channel) {
  return static_cast<float>(values[values.size() == 1 ? 0 : static_cast<size_t>(channel)]);
}

// (x - mean) * scale, channel by channel, in the layout that is wanted.
Tensor normalized(const Picture& picture, const Preprocess& steps) {
  Tensor out(DataType::float32, dims_of({picture.height, picture.width}, steps));
  float* to = out.mutable_data<float>().data();
  const int64_t channels = steps.color == ColorOrder::gray ? 1 : kPictureChannels;
  const bool planar = steps.layout == PictureLayout::nchw;
  const int64_t pixels = picture.height * picture.width;
  for (int64_t c = 0; c < channels; ++c) {
    const float mean = value_of(steps.mean, c), scale = value_of(steps.scale, c);
    for (int64_t i = 0; i < pixels; ++i) {
      const float x = sample(picture.rgb.data() + i * kPictureChannels, steps.color, c);
      to[planar ? c * pixels + i : i * channels + c] = (x - mean) * scale;
    }
  }
  return out;
}

}  // namespace

Result<Dims> preprocessed_dims(int64_t height, int64_t width, const Preprocess& steps) {
  TRY(Preprocess::Size whole, resized({height, width}, steps));
  TRY(Preprocess::Size part, cropped(whole, steps));
  return dims_of(part, steps);
}

Result<Tensor> apply(const Picture& picture, const Preprocess& steps) {
  const Preprocess::Size size{picture.height, picture.width};
  TRY(Preprocess::Size whole, resized(size, steps));
  TRY(Preprocess::Size part, cropped(whole, steps));
  Picture changed;
  const Picture* now = &picture;
  if (whole != size) now = &(changed = resize(*now, whole.height, whole.width, steps.filter));
  if (part != whole) now = &(changed = crop_middle(*now, part.height, part.width));
  return normalized(*now, steps);
}

}  // namespace enginery
