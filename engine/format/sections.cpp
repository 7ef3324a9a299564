#include "engine/format/sections.h"

#include <cstring>

namespace enginery {
namespace {

constexpr char kMagic[] = "ENGINERY";
constexpr size_t kHeaderBytes = 64;

struct Header {
  char magic[8];
  uint32_t version, target;
  uint8_t zeros[48];
};
static_assert(sizeof(Header) == kHeaderBytes);

struct Frame {
  uint32_t kind, zero;
  uint64_t size;
  uint8_t sha256[32];
  uint8_t zeros[16];
};
static_assert(sizeof(Frame) == kSectionAlignment);

size_t padded(size_t size) {
  return (size + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment;
}

Error damaged_file(const std::string& reason) {
  return {ErrorCode::untrusted, "engine file: " + reason};
}

template <typename T>
T read_as(ByteSpan bytes) {
  T out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

bool all_zero(ByteSpan bytes) {
  for (std::byte b : bytes) {
    if (b != std::byte{0}) return false;
  }
  return true;
}

}  // namespace

Bytes file_header(DeviceKind target) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof header.magic);
  header.version = kFormatVersion;
  header.target = target == DeviceKind::cpu ? 1 : 2;
  return Bytes(reinterpret_cast<const char*>(&header), sizeof header);
}

void append_section(Bytes& file, SectionKind kind, ByteSpan payload) {
  append_section(file, kind, [&](Bytes& to) { to.append(as_text(payload)); });
}

void append_section(Bytes& file, SectionKind kind, const std::function<void(Bytes& file)>& append) {
  const size_t begin = file.size() + sizeof(Frame);
  file.append(sizeof(Frame), '\0');
  append(file);
  const ByteSpan payload = as_bytes(file).subspan(begin);
  Frame frame{};
  frame.kind = static_cast<uint32_t>(kind);
  frame.size = payload.size();
  std::memcpy(frame.sha256, sha256(payload).bytes.data(), sizeof frame.sha256);
  std::memcpy(file.data() + begin - sizeof frame, &frame, sizeof frame);
  file.append(padded(frame.size) - frame.size, '\0');
}

Result<Sections> parse_sections(ByteSpan body, HashCheck check) {
  if (body.size() < kHeaderBytes || std::memcmp(body.data(), kMagic, 8) != 0)
    return damaged_file("this is not an engine");
  Header header = read_as<Header>(body);
  if (header.version > kFormatVersion) {
    return Error{ErrorCode::incompatible,
                 "engine file: format version " + std::to_string(header.version) +
                     ", this enginery reads up to " + std::to_string(kFormatVersion)};
  }
  if (header.version == 0 || header.target < 1 || header.target > 2 ||
      !all_zero(body.subspan(16, 48))) {
    return damaged_file("its header is damaged");
  }
  Sections out;
  out.target = header.target == 1 ? DeviceKind::cpu : DeviceKind::cuda;
  size_t at = kHeaderBytes;
  uint32_t last_kind = 0;
  out.content_bytes = out.front_bytes = body.size();
  while (at < body.size()) {
    if (body.size() - at < sizeof(Frame)) return damaged_file("it ends inside a section's frame");
    Frame frame = read_as<Frame>(body.subspan(at));
    size_t room = body.size() - at - sizeof(Frame);
    if (frame.kind <= last_kind || frame.size > room || padded(frame.size) > room ||
        frame.zero != 0 || !all_zero(body.subspan(at + 48, 16))) {
      return damaged_file("a section's frame is damaged");
    }
    last_kind = frame.kind;
    ByteSpan payload = body.subspan(at + sizeof(Frame), frame.size);
    if (!all_zero(body.subspan(at + sizeof(Frame) + frame.size, padded(frame.size) - frame.size))) {
      return damaged_file("padding is not zero");
    }
    if (check == HashCheck::all &&
        std::memcmp(sha256(payload).bytes.data(), frame.sha256, 32) != 0) {
      return damaged_file("section " + std::to_string(frame.kind) + " does not match its SHA-256");
    }
    if (frame.kind == static_cast<uint32_t>(SectionKind::provenance)) out.content_bytes = at;
    if (frame.kind == static_cast<uint32_t>(SectionKind::weights))
      out.front_bytes = at + sizeof(Frame);
    out.payloads[static_cast<SectionKind>(frame.kind)] = payload;
    at += sizeof(Frame) + padded(frame.size);
  }
  return out;
}

}  // namespace enginery
