// A blob store in memory: for the simulator and for tests of the tables above blobs.
#pragma once

#include <map>
#include <mutex>

#include "cache/blob_store.h"

namespace enginery {

class MemoryBlobStore final : public BlobStore {
 public:
  Result<Digest> put(ByteSpan bytes) override;
  Result<Bytes> get(const Digest& digest) override;
  Result<Bytes> read_range(const Digest& digest, uint64_t offset, uint64_t size) override;
  Result<uint64_t> size(const Digest& digest) override;
  Status remove(const Digest& digest) override;
  Result<std::vector<BlobInfo>> list() override;

  // Flips one bit of a stored blob, as a failing disk would.
  void damage(const Digest& digest);

 private:
  std::mutex mutex_;
  std::map<Digest, Bytes> blobs_;
};

}  // namespace enginery
