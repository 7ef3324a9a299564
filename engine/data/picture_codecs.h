// The two decoders behind decode_picture; each turns one C library's longjmp into an Error in one
// file.
#pragma once

#include "engine/data/picture.h"

namespace enginery {

// libjpeg-turbo with its defaults. Grey and CMYK (Adobe's inverted form) become RGB by Pillow's
// formulas.
Result<Picture> decode_jpeg(std::string_view bytes);

// libpng: palettes and grey expanded, alpha and transparency dropped, 16 bits cut to the upper 8.
Result<Picture> decode_png(std::string_view bytes);

// invalid_argument when a picture of this size must not be decoded.
Status check_picture_size(int64_t width, int64_t height);

}  // namespace enginery
