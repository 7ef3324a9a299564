#include "engine/data/zip.h"

#include <zlib.h>

#include <algorithm>

namespace enginery {
namespace {

constexpr std::string_view kEndMagic{"PK\x05\x06", 4};
constexpr std::string_view kEntryMagic{"PK\x01\x02", 4};
constexpr std::string_view kLocalMagic{"PK\x03\x04", 4};
constexpr size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
constexpr size_t kMaxComment = 65535;
constexpr uint64_t kMaxRatio = 1100;  // deflate cannot expand by more than 1032

Error malformed_zip(const std::string& why) {
  return {ErrorCode::invalid_argument, "not a usable .npz archive: " + why};
}

uint32_t number(std::string_view bytes, size_t at, size_t width) {
  uint32_t value = 0;
  for (size_t i = width; i-- > 0;) value = (value << 8) | static_cast<uint8_t>(bytes[at + i]);
  return value;
}

struct Inflater {
  z_stream stream{};
  bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

Result<Bytes> inflated(std::string_view stored, const ZipMember& member) {
  if (member.bytes / kMaxRatio > stored.size())
    return malformed_zip(member.name + " claims more bytes than deflate can hold");
  Inflater inflater;
  if (!inflater.ready) return Error{ErrorCode::out_of_memory, "zlib gave no decoder"};
  Bytes out(member.bytes, '\0');
  inflater.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data()));
  inflater.stream.avail_in = static_cast<uInt>(stored.size());
  inflater.stream.next_out = reinterpret_cast<Bytef*>(out.data());
  inflater.stream.avail_out = static_cast<uInt>(out.size());
  if (inflate(&inflater.stream, Z_FINISH) != Z_STREAM_END || inflater.stream.avail_out != 0) {
    return malformed_zip(member.name + " does not inflate to its size");
  }
  return out;
}

// Reads one entry at `at` and moves past it.
Result<ZipMember> read_entry(std::string_view archive, size_t& at) {
  if (archive.size() - at < kEntryBytes || archive.substr(at, 4) != kEntryMagic)
    return malformed_zip("its directory is damaged");
  const std::string_view entry = archive.substr(at);
  ZipMember member;
  const uint32_t flags = number(entry, 8, 2);
  member.method = static_cast<uint16_t>(number(entry, 10, 2));
  member.checksum = number(entry, 16, 4);
  member.stored_bytes = number(entry, 20, 4);
  member.bytes = number(entry, 24, 4);
  member.header_offset = number(entry, 42, 4);
  const size_t name_bytes = number(entry, 28, 2);
  const size_t rest_bytes = number(entry, 30, 2) + number(entry, 32, 2);
  if (entry.size() < kEntryBytes + name_bytes + rest_bytes)
    return malformed_zip("its directory is cut short");
  member.name = entry.substr(kEntryBytes, name_bytes);
  at += kEntryBytes + name_bytes + rest_bytes;
  if (flags & 1) return Error{ErrorCode::unsupported, member.name + " is encrypted"};
  if (std::max({member.stored_bytes, member.bytes, member.header_offset}) == UINT32_MAX) {
    return Error{ErrorCode::unsupported, member.name + " is larger than 4 GiB; save it as .npy"};
  }
  return member;
}

}  // namespace

Result<std::vector<ZipMember>> list_zip(std::string_view archive) {
  if (archive.size() < kEndBytes) return malformed_zip("too short");
  // Only a comment may follow the end record.
  const size_t from = archive.size() - std::min(archive.size(), kEndBytes + kMaxComment);
  const size_t end = archive.substr(from).rfind(kEndMagic);
  if (end == std::string_view::npos || archive.size() - from - end < kEndBytes)
    return malformed_zip("its end record is missing");
  const std::string_view record = archive.substr(from + end);
  const uint32_t count = number(record, 10, 2);
  size_t at = number(record, 16, 4);
  if (at > archive.size()) return malformed_zip("its directory lies outside");
  std::vector<ZipMember> members;
  for (uint32_t i = 0; i < count; ++i) {
    TRY(ZipMember member, read_entry(archive, at));
    members.push_back(std::move(member));
  }
  return members;
}

Result<Bytes> read_zip_member(std::string_view archive, const ZipMember& member) {
  if (member.header_offset > archive.size()) return malformed_zip(member.name + " lies outside");
  const std::string_view local = archive.substr(member.header_offset);
  if (local.size() < kLocalBytes || !local.starts_with(kLocalMagic))
    return malformed_zip(member.name + " has no header");
  const size_t skip = kLocalBytes + number(local, 26, 2) + number(local, 28, 2);
  if (local.size() < skip || local.size() - skip < member.stored_bytes)
    return malformed_zip(member.name + " is cut short");
  const std::string_view stored = local.substr(skip, member.stored_bytes);
  Bytes out;
  if (member.method == 8) {
    TRY(out, inflated(stored, member));
  } else if (member.method == 0 && member.bytes == member.stored_bytes) {
    out = stored;
  } else {
    return Error{ErrorCode::unsupported,
                 member.name + " is compressed by method " + std::to_string(member.method)};
  }
  if (crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size())) !=
      member.checksum) {
    return malformed_zip(member.name + " does not match its checksum");
  }
  return out;
}

}  // namespace enginery
