// The frame of an engine file: header and sections (README.md has the grammar). Knows nothing of
// what the sections hold.
//
// Where: engine_file.h writes and reads through it. Thread-safe, without state.
#pragma once

#include <functional>
#include <map>

#include "engine/base/digest.h"
#include "engine/device/device.h"

namespace enginery {

// The numbers are in files: never renumbered, never reused; 5 to 8 are reserved.
enum class SectionKind : uint32_t {
  manifest = 1,
  plan = 2,
  code = 3,
  weights = 4,
  provenance = 9,
  statement = 10,
  front_signature = 11
};

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kSectionAlignment = 64;  // of payloads and of weights within theirs

// The 64 bytes at the beginning of a file for this kind of device.
Bytes file_header(DeviceKind target);
// Appends the frame with the payload's SHA-256, the payload, and zeros up to the alignment.
void append_section(Bytes& file, SectionKind kind, ByteSpan payload);
// The same of a payload that `append` adds to the file by itself.
void append_section(Bytes& file, SectionKind kind, const std::function<void(Bytes& file)>& append);

struct Sections {
  DeviceKind target = DeviceKind::cpu;
  std::map<SectionKind, ByteSpan> payloads;  // borrowed from the file
  size_t content_bytes = 0;                  // up to the provenance section
  size_t front_bytes = 0;                    // up to the payload of the weights
};

enum class HashCheck { all, skip };  // skip: the caller checks a signature over all of it

// Splits the file's bytes without its signature. Errors: untrusted (a frame that does not add up, a
// wrong hash), incompatible (a newer version; the message has both numbers).
Result<Sections> parse_sections(ByteSpan body, HashCheck check);

}  // namespace enginery
