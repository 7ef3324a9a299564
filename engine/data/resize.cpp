#include "engine/data/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace enginery {
namespace {

// Where one output index reads from: two neighbours and the second one's weight.
struct Tap {
  int64_t low = 0;
  int64_t high = 0;
  double weight = 0;
};

std::vector<Tap> bilinear_taps(int64_t from, int64_t to) {
  std::vector<Tap> taps(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    double at =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    at = std::clamp(at, 0.0, static_cast<double>(from - 1));
    const int64_t low = static_cast<int64_t>(at);
    taps[static_cast<size_t>(i)] = {low, std::min(low + 1, from - 1),
                                    at - static_cast<double>(low)};
  }
  return taps;
}

std::vector<int64_t> nearest_taps(int64_t from, int64_t to) {
  std::vector<int64_t> taps(static_cast<size_t>(to));
  // floor((i + 0.5) * from / to) in integers
  for (int64_t i = 0; i < to; ++i) taps[static_cast<size_t>(i)] = (2 * i + 1) * from / (2 * to);
  return taps;
}

void resize_bilinear(const Picture& in, Picture& out) {
  const std::vector<Tap> ys = bilinear_taps(in.height, out.height),
                         xs = bilinear_taps(in.width, out.width);
  uint8_t* to = out.rgb.data();
  for (const Tap& y : ys) {
    for (const Tap& x : xs) {
      const uint8_t *a = in.at(y.low, x.low), *b = in.at(y.low, x.high);
      const uint8_t *c = in.at(y.high, x.low), *d = in.at(y.high, x.high);
      for (int k = 0; k < kPictureChannels; ++k) {
        const double top = a[k] + (b[k] - a[k]) * x.weight,
                     bottom = c[k] + (d[k] - c[k]) * x.weight;
        *to++ = static_cast<uint8_t>(std::floor(top + (bottom - top) * y.weight + 0.5));
      }
    }
  }
}

void resize_nearest(const Picture& in, Picture& out) {
  const std::vector<int64_t> ys = nearest_taps(in.height, out.height),
                             xs = nearest_taps(in.width, out.width);
  uint8_t* to = out.rgb.data();
  for (const int64_t y : ys) {
    for (const int64_t x : xs) {
      std::memcpy(to, in.at(y, x), kPictureChannels);
      to += kPictureChannels;
    }
  }
}

Picture blank(int64_t height, int64_t width) {
  Picture out{height, width, {}};
  out.rgb.resize(static_cast<size_t>(height * width * kPictureChannels));
  return out;
}

}  // namespace

Picture resize(const Picture& picture, int64_t height, int64_t width, Filter filter) {
  Picture out = blank(height, width);
  if (filter == Filter::bilinear)
    resize_bilinear(picture, out);
  else
    resize_nearest(picture, out);
  return out;
}

Picture crop_middle(const Picture& picture, int64_t height, int64_t width) {
  ENSURE(height <= picture.height && width <= picture.width, "crop_middle: the picture is smaller");
  Picture out = blank(height, width);
  const int64_t top = (picture.height - height) / 2, left = (picture.width - width) / 2;
  const size_t row_bytes = static_cast<size_t>(width * kPictureChannels);
  for (int64_t y = 0; y < height; ++y) {
    std::memcpy(out.rgb.data() + static_cast<size_t>(y) * row_bytes, picture.at(top + y, left),
                row_bytes);
  }
  return out;
}

}  // namespace enginery
