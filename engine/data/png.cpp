// libpng behind decode_png. Its errors arrive by longjmp, so every function that calls setjmp keeps
// objects with destructors out of its own frame; they live in decode_png's.
#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "engine/data/picture_codecs.h"

namespace enginery {
namespace {

struct PngDecoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string_view left;  // bytes not read yet
  char reason[160] = "";

  PngDecoder() = default;
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  PngDecoder& decoder = *static_cast<PngDecoder*>(png_get_error_ptr(png));
  std::snprintf(decoder.reason, sizeof decoder.reason, "%s", message);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, size_t bytes) {
  PngDecoder& decoder = *static_cast<PngDecoder*>(png_get_io_ptr(png));
  if (bytes > decoder.left.size()) png_error(png, "the file is cut short");
  std::memcpy(to, decoder.left.data(), bytes);
  decoder.left.remove_prefix(bytes);
}

bool read_header(PngDecoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &decoder, on_read);
  png_set_user_limits(decoder.png, 1u << 27, 1u << 27);
  png_read_info(decoder.png, decoder.info);
  return true;
}

bool read_pixels(PngDecoder& decoder, png_bytep* rows) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  const bool grey = (png_get_color_type(decoder.png, decoder.info) & PNG_COLOR_MASK_COLOR) == 0;
  png_set_strip_16(decoder.png);
  png_set_expand(decoder.png);
  png_set_strip_alpha(decoder.png);
  if (grey) png_set_gray_to_rgb(decoder.png);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  png_read_image(decoder.png, rows);
  png_read_end(decoder.png, nullptr);
  return true;
}

Error failure(const PngDecoder& decoder) {
  return {ErrorCode::invalid_argument,
          std::string("damaged or unsupported PNG: ") + decoder.reason};
}

}  // namespace

Result<Picture> decode_png(std::string_view bytes) {
  PngDecoder decoder;
  decoder.left = bytes;
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_error, on_warning);
  if (decoder.png) decoder.info = png_create_info_struct(decoder.png);
  if (!decoder.info) return Error{ErrorCode::out_of_memory, "libpng gave no decoder"};
  if (!read_header(decoder)) return failure(decoder);

  Picture picture;
  picture.width = png_get_image_width(decoder.png, decoder.info);
  picture.height = png_get_image_height(decoder.png, decoder.info);
  CHECK_OK(check_picture_size(picture.width, picture.height));
  const size_t row_bytes = static_cast<size_t>(picture.width * kPictureChannels);
  picture.rgb.resize(row_bytes * static_cast<size_t>(picture.height));
  std::vector<png_bytep> rows(static_cast<size_t>(picture.height));
  for (size_t y = 0; y < rows.size(); ++y) rows[y] = picture.rgb.data() + y * row_bytes;
  if (!read_pixels(decoder, rows.data())) return failure(decoder);
  return picture;
}

}  // namespace enginery
