// Blobs: bytes named by their SHA-256. The interface, and what every implementation promises.
//
// Where: below results, engines and calibrations, which name blobs; above files (LocalBlobStore) or
// memory (MemoryBlobStore, for the simulator). tests/cache/blob_store_test.cpp runs one suite over
// all of them. Threads: every implementation is thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/digest.h"
#include "engine/base/result.h"

namespace enginery {

struct BlobInfo {
  Digest digest;
  uint64_t size_bytes = 0;
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Stores the bytes and says their name; storing what is there already changes nothing. After ok()
  // they are durable. storage: full, read-only, permission; nothing half-written stays.
  virtual Result<Digest> put(ByteSpan bytes) = 0;

  // The whole blob, hashed while it is read. not_found; corrupt_data naming the digest: the damaged
  // blob is set aside, so that the next question for it says not_found and it can be stored again.
  virtual Result<Bytes> get(const Digest& digest) = 0;

  // At most `size` bytes from `offset` on (fewer at the end, none behind it), out of a blob whose
  // whole hash has been checked since its file last changed. Errors as get.
  virtual Result<Bytes> read_range(const Digest& digest, uint64_t offset, uint64_t size) = 0;

  // The blob's size; not_found where it is missing or cut short. Cheap: reads no content.
  virtual Result<uint64_t> size(const Digest& digest) = 0;

  // Forgets the blob; ok when it was not there.
  virtual Status remove(const Digest& digest) = 0;

  // Every blob, in digest order.
  virtual Result<std::vector<BlobInfo>> list() = 0;
};

// True when the store holds the blob (by name and size; content is checked when it is read).
inline Result<bool> has_blob(BlobStore& store, const Digest& digest) {
  const Result<uint64_t> size = store.size(digest);
  if (size.ok()) return true;
  if (size.error().code == ErrorCode::not_found) return false;
  return size.error();
}

}  // namespace enginery
