#include "tests/engine/data/picture_files.h"

#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
#include <png.h>

namespace enginery {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "enginery-data-XXXXXX").string();
  path = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

Picture test_picture(int64_t height, int64_t width, int seed) {
  Picture picture{height, width, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        picture.rgb.push_back(
            static_cast<uint8_t>((x * (3 + c) + y * (5 - c) + seed * 37 + c * 80) % 256));
      }
    }
  }
  return picture;
}

std::string encode_jpeg(const Picture& picture, JpegOptions options) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(picture.width);
  info.image_height = static_cast<JDIMENSION>(picture.height);
  info.input_components = options.components;
  info.in_color_space = options.components == 1   ? JCS_GRAYSCALE
                        : options.components == 4 ? JCS_CMYK
                                                  : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  std::vector<uint8_t> row(static_cast<size_t>(picture.width * options.components));
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) {
      for (int c = 0; c < options.components; ++c) {
        row[static_cast<size_t>(x * options.components + c)] = c < 3 ? picture.at(y, x)[c] : 200;
      }
    }
    JSAMPROW rows = row.data();
    jpeg_write_scanlines(&info, &rows, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<char*>(data), size);
  jpeg_destroy_compress(&info);
  std::free(data);
  return out;
}

std::string encode_png(const PngImage& image) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  auto write = [](png_structp p, png_bytep bytes, size_t n) {
    static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(bytes), n);
  };
  png_set_write_fn(png, &out, write, [](png_structp) {});
  png_set_IHDR(png, info, image.width, image.height, image.bit_depth, image.color_type,
               image.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette;
  for (size_t i = 0; i + 2 < image.palette.size(); i += 3) {
    palette.push_back({image.palette[i], image.palette[i + 1], image.palette[i + 2]});
  }
  if (!palette.empty()) png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  const size_t row_bytes = image.rows.size() / image.height;
  for (size_t y = 0; y < image.height; ++y) {
    rows.push_back(reinterpret_cast<png_bytep>(const_cast<char*>(image.rows.data())) +
                   y * row_bytes);
  }
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return out;
}

std::string encode_png(const Picture& picture) {
  PngImage image{static_cast<unsigned>(picture.width),
                 static_cast<unsigned>(picture.height),
                 8,
                 2,
                 {},
                 {},
                 false};
  image.rows.assign(picture.rgb.begin(), picture.rgb.end());
  return encode_png(image);
}

}  // namespace enginery
