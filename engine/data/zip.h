// Reading members of a ZIP archive, which is what NumPy's .npz files are. Inside of the library;
// see npy.h.
//
// Source: APPNOTE 6.3.9. Stored and deflated members; no encryption, no archives of several disks,
// nothing beyond 4 GiB. Errors: invalid_argument for an archive that breaks the format, unsupported
// for the rest of the format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/digest.h"

namespace enginery {

struct ZipMember {
  std::string name;
  uint16_t method = 0;  // 0 stored, 8 deflated
  uint32_t checksum = 0;
  uint32_t stored_bytes = 0;
  uint32_t bytes = 0;
  uint32_t header_offset = 0;
};

// The archive's table of contents, in its order.
Result<std::vector<ZipMember>> list_zip(std::string_view archive);

// One member's content, checked against its size and CRC-32.
Result<Bytes> read_zip_member(std::string_view archive, const ZipMember& member);

}  // namespace enginery
