// libjpeg-turbo behind decode_jpeg. Its errors arrive by longjmp, so every function that calls
// setjmp keeps objects with destructors out of its own frame; they live in decode_jpeg's.
#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
// After the header of libjpeg, which it needs.
#include <jerror.h>

#include "engine/data/picture_codecs.h"

namespace enginery {
namespace {

// A progressive file may hold any number of nearly empty scans over a large picture: bound the
// work, not the bytes.
constexpr int64_t kMaxScanPixels = int64_t{1} << 32;

struct JpegDecoder {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump;
  char reason[JMSG_LENGTH_MAX] = "";

  JpegDecoder() = default;
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() { jpeg_destroy_decompress(&info); }
};

[[noreturn]] void leave(j_common_ptr info) {
  JpegDecoder& decoder = *static_cast<JpegDecoder*>(info->client_data);
  info->err->format_message(info, decoder.reason);
  std::longjmp(decoder.jump, 1);
}

// Warnings are ignored, as Pillow does, except for the one that says that the file is cut short.
void on_message(j_common_ptr info, int level) {
  if (level < 0 && info->err->msg_code == JWRN_JPEG_EOF) leave(info);
}

void on_progress(j_common_ptr common) {
  j_decompress_ptr info = reinterpret_cast<j_decompress_ptr>(common);
  const int64_t pixels = int64_t{info->image_width} * info->image_height;
  if (info->input_scan_number <= kMaxScanPixels / pixels) return;
  JpegDecoder& decoder = *static_cast<JpegDecoder*>(info->client_data);
  std::snprintf(decoder.reason, sizeof decoder.reason, "too many progressive scans");
  std::longjmp(decoder.jump, 1);
}

bool read_header(JpegDecoder& decoder, std::string_view bytes) {
  if (setjmp(decoder.jump) != 0) return false;
  jpeg_create_decompress(&decoder.info);
  decoder.info.client_data = &decoder;
  decoder.info.progress = &decoder.progress;
  jpeg_mem_src(&decoder.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decoder.info, TRUE);
  return true;
}

bool read_pixels(JpegDecoder& decoder, uint8_t* pixels) {
  if (setjmp(decoder.jump) != 0) return false;
  jpeg_start_decompress(&decoder.info);
  const size_t row_bytes =
      size_t{decoder.info.output_width} * static_cast<size_t>(decoder.info.output_components);
  while (decoder.info.output_scanline < decoder.info.output_height) {
    JSAMPROW row = pixels + row_bytes * decoder.info.output_scanline;
    jpeg_read_scanlines(&decoder.info, &row, 1);
  }
  return true;
}

// Back to front, so that the samples may occupy the start of the same buffer.
void expand_grey(uint8_t* data, size_t pixels) {
  for (size_t i = pixels; i-- > 0;) data[3 * i] = data[3 * i + 1] = data[3 * i + 2] = data[i];
}

// Pillow's CMYK;I then cmyk2rgb: the stored samples are the inverse of the ink. In place, front to
// back.
void cmyk_to_rgb(uint8_t* data, size_t pixels) {
  for (size_t i = 0; i < pixels; ++i) {
    const int not_black = data[4 * i + 3];
    for (size_t c = 0; c < 3; ++c) {
      const int product = (255 - data[4 * i + c]) * not_black + 128;
      data[3 * i + c] =
          static_cast<uint8_t>(std::max(0, not_black - (((product >> 8) + product) >> 8)));
    }
  }
}

J_COLOR_SPACE output_space(int components) {
  if (components == 1) return JCS_GRAYSCALE;
  return components == 4 ? JCS_CMYK : JCS_RGB;
}

Error failure(const JpegDecoder& decoder) {
  return {ErrorCode::invalid_argument,
          std::string("damaged or unsupported JPEG: ") + decoder.reason};
}

}  // namespace

Result<Picture> decode_jpeg(std::string_view bytes) {
  JpegDecoder decoder;
  decoder.info.err = jpeg_std_error(&decoder.errors);
  decoder.info.client_data = &decoder;
  decoder.errors.error_exit = leave;
  decoder.errors.emit_message = on_message;
  decoder.progress.progress_monitor = on_progress;
  if (!read_header(decoder, bytes)) return failure(decoder);

  Picture picture;
  picture.width = decoder.info.image_width;
  picture.height = decoder.info.image_height;
  CHECK_OK(check_picture_size(picture.width, picture.height));
  const int components = decoder.info.num_components;
  decoder.info.out_color_space = output_space(components);
  const size_t pixels = static_cast<size_t>(picture.width * picture.height);
  picture.rgb.resize(pixels * (components == 4 ? 4 : 3));
  if (!read_pixels(decoder, picture.rgb.data())) return failure(decoder);
  if (components == 1) expand_grey(picture.rgb.data(), pixels);
  if (components == 4) cmyk_to_rgb(picture.rgb.data(), pixels);
  picture.rgb.resize(pixels * 3);
  return picture;
}

}  // namespace enginery
