// Uploads in chunks that survive a lost connection or a restart: partial/<digest> grows until it is
// the blob.
//
// Where: between the coordinator's bulk socket and the blob store. Every call may be repeated.
// Threads: thread-safe. One process per catalog folder may receive uploads (the coordinator; see
// FolderLock).
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <mutex>

#include "cache/local_blob_store.h"
#include "engine/base/side_hash.h"

namespace enginery {

class BlobWriter {
  struct Opened {
    explicit Opened() = default;
  };

 public:
  // Removes the forgotten uploads. `store` outlives the writer.
  static Result<std::unique_ptr<BlobWriter>> open(LocalBlobStore& store);

  // How many bytes of `digest` have arrived: where the sender goes on. 0 for an unknown upload.
  Result<uint64_t> offset(const Digest& digest);

  // Adds a chunk at `at`; says the new offset. Bytes that are there already are skipped, so a
  // repeated chunk is ok; a gap is invalid_argument naming the offset to go on from. The first
  // chunk reserves the room of the whole blob, `size_bytes` (0: not known). storage: full (the
  // upload stays as it was).
  Result<uint64_t> append(const Digest& digest, uint64_t at, Bytes chunk, uint64_t size_bytes = 0);

  // Checks the hash and makes the upload a blob; ok when the blob is there already. corrupt_data:
  // other bytes arrived, the upload is dropped and starts over. not_found: nothing was uploaded.
  Status finish(const Digest& digest);

  // Removes uploads without a write in 24 h, by the store's clock.
  void remove_forgotten();

  // Drops an upload.
  Status abandon(const Digest& digest);

  // For open(), which alone can make the key.
  BlobWriter(Opened, LocalBlobStore& store, std::filesystem::path folder)
      : store_(store), folder_(std::move(folder)) {}

 private:
  std::filesystem::path path_of(const Digest& digest) const { return folder_ / digest.hex(); }
  std::mutex& mutex_of(const Digest& digest) { return mutexes_[digest.bytes[0] % mutexes_.size()]; }

  // The hash of an upload that is being received, beside the receiving.
  struct Running {
    SideHash hash;
    uint64_t bytes = 0;
  };
  void hash_on(const Digest& digest, uint64_t at, Bytes bytes);
  std::unique_ptr<Running> take_hash(const Digest& digest);

  LocalBlobStore& store_;
  std::filesystem::path folder_;
  std::array<std::mutex, 16> mutexes_;  // one upload waits only for those that share its mutex
  std::mutex running_mutex_;
  std::map<Digest, std::unique_ptr<Running>> running_;
};

}  // namespace enginery
