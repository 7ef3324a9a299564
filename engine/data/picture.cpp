#include "engine/data/picture.h"

#include "engine/base/file.h"
#include "engine/data/picture_codecs.h"

namespace enginery {
namespace {

constexpr uint64_t kMaxPictureBytes = uint64_t{1} << 29;
constexpr std::string_view kJpegMagic{"\xff\xd8\xff", 3};
constexpr std::string_view kPngMagic{"\x89PNG\r\n\x1a\n", 8};

}  // namespace

bool looks_like_picture(std::string_view bytes) {
  return bytes.starts_with(kJpegMagic) || bytes.starts_with(kPngMagic);
}

Status check_picture_size(int64_t width, int64_t height) {
  if (width > 0 && height > 0 && width <= kMaxPicturePixels / height) return {};
  return Error{ErrorCode::invalid_argument, "a picture of " + std::to_string(width) + " x " +
                                                std::to_string(height) +
                                                " pixels; at most 2^27 pixels are decoded"};
}

Result<Picture> decode_picture(std::string_view bytes) {
  if (bytes.starts_with(kJpegMagic)) return decode_jpeg(bytes);
  if (bytes.starts_with(kPngMagic)) return decode_png(bytes);
  return Error{ErrorCode::invalid_argument, "neither a JPEG nor a PNG file"};
}

Result<Picture> read_picture(const std::filesystem::path& path) {
  TRY(const Bytes bytes, read_file(path, kMaxPictureBytes));
  auto picture = decode_picture(bytes);
  if (!picture.ok()) return picture.error().within("decode " + path.string());
  return picture;
}

}  // namespace enginery
