// BlobCache: the blobs that this worker fetched lately, as files named by their digests; the oldest
// go when it is full. Belongs to one thread; one agent a folder.
#pragma once

#include <filesystem>
#include <set>

#include "worker/agent/farm_connection.h"

namespace enginery {

class BlobCache {
 public:
  BlobCache(std::filesystem::path folder, uint64_t limit_bytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  // What is fetched from now on stays until the next call of this.
  void begin_step() { in_use_.clear(); }

  // The blob's file, checked against its digest; downloaded where it is not here.
  // Errors: not_found, corrupt_data (the farm's copy), storage, cancelled.
  Result<std::filesystem::path> fetch(FarmConnection& farm, const Digest& digest,
                                      const TransferProgress& progress);

 private:
  Result<bool> has(const std::filesystem::path& file, const Digest& digest) const;
  void trim() const;

  const std::filesystem::path folder_;
  const uint64_t limit_bytes_;
  std::set<std::string> in_use_;
};

}  // namespace enginery
