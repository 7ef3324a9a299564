// Resizing and cropping of 8-bit pictures, by the one rule that --preprocess files mean.
#pragma once

#include "engine/data/picture.h"

namespace enginery {

enum class Filter { bilinear, nearest };

// Output pixel (y, x) samples the source at ((y + 0.5) * h / height - 0.5, ...), edges repeated, no
// antialiasing; bilinear values are rounded half up. Requires sizes from 1 whose product is at most
// kMaxPicturePixels.
Picture resize(const Picture& picture, int64_t height, int64_t width, Filter filter);

// The middle height x width, the odd pixel left over at the bottom and right. Requires a picture at
// least that large.
Picture crop_middle(const Picture& picture, int64_t height, int64_t width);

}  // namespace enginery
