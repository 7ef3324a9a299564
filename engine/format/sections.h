// The frame of an engine file: header and sections (README.md). Knows nothing of what the sections
// hold.
#pragma once

#include <map>

#include "engine/base/digest.h"
#include "engine/device/device.h"

namespace enginery {

enum class SectionKind : uint32_t { manifest = 1, plan = 2, code = 3, weights = 4, provenance = 9 };

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kSectionAlignment = 64;

Bytes file_header(DeviceKind target);
void append_section(Bytes& file, SectionKind kind, ByteSpan payload);

struct Sections {
  DeviceKind target = DeviceKind::cpu;
  std::map<SectionKind, ByteSpan> payloads;  // borrowed from the file
  size_t content_bytes = 0;                  // up to the provenance section
};

enum class HashCheck { all, skip };  // skip: the caller checks a signature over all of it

// Errors: untrusted (a frame that does not add up, a wrong hash), incompatible (a newer version).
Result<Sections> parse_sections(ByteSpan body, HashCheck check);

}  // namespace enginery
