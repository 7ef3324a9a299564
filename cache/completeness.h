// The promise that the catalog never answers with something whose blobs are gone. A question looks
// and writes nothing, because a blob that is missing now may come back; who repairs (a commit of a
// newer generation, `verify --repair`) marks what needs a lost blob, and a blob that is stored
// again takes the marks back (the trigger `blob_returns`, schema.cpp).
#pragma once

#include <optional>

#include "cache/blob_store.h"
#include "cache/sqlite.h"
#include "engine/base/clock.h"

namespace enginery {

// The blob's size; nothing when it is missing. storage: the store cannot say, for example because
// its folder is away.
Result<std::optional<uint64_t>> size_if_there(BlobStore& blobs, const Digest& digest);

// Marks every result, engine and calibration that needs the missing blob as gone, and drops what
// the store still knows of it.
Status forget_blob(Database& database, BlobStore& blobs, const Clock& clock, const Digest& digest);

// "sha256:" (or not) and 8 to 64 hex digits as the range of digests that begin so. invalid_argument
// otherwise.
struct DigestRange {
  Digest first;
  Digest last;
};
Result<DigestRange> digest_range(std::string_view prefix);

}  // namespace enginery
