// The file-system calls that the blob store needs beyond engine/base/file.h, as errors with a
// sentence.
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "engine/base/digest.h"

namespace enginery {

// Owns one file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
};

// open(2) with O_CLOEXEC; not_found or storage.
Result<Descriptor> open_file(const std::filesystem::path& file, int flags, unsigned mode = 0);

// Writes everything at the descriptor's position; a failure is a storage error that names `file`.
Status write_all(int fd, ByteSpan bytes, const std::filesystem::path& file);

// At most `size` bytes from `offset`; fewer at the end of the file.
Result<Bytes> read_at(int fd, uint64_t offset, uint64_t size, const std::filesystem::path& file);

// Calls `take` with the file's content, chunk by chunk, from its begin to its end; says how many
// bytes there were.
Result<uint64_t> read_chunks(int fd, const std::filesystem::path& file,
                             const std::function<Status(ByteSpan)>& take);

struct HashedFile {
  Digest digest;
  uint64_t size_bytes = 0;
};
Result<HashedFile> hash_file(int fd, const std::filesystem::path& file);

// Makes a folder entry's change durable.
Status sync_folder(const std::filesystem::path& folder);

// rename(2) that never replaces; false when `to` exists already.
Result<bool> rename_without_replacing(const std::filesystem::path& from,
                                      const std::filesystem::path& to);

// A file that disappears with this object unless it was moved away. Holds a lock on it (flock), so
// that others can tell a living writer's temporary from a dead one's.
class TemporaryFile {
 public:
  // Makes an empty file in `folder` and reserves `bytes` of disk for it. storage: full, and nothing
  // stays.
  static Result<TemporaryFile> create(const std::filesystem::path& folder, uint64_t bytes);
  TemporaryFile(TemporaryFile&&) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  int fd() const { return descriptor_.get(); }
  const std::filesystem::path& path() const { return path_; }
  void moved_away() { path_.clear(); }  // after a rename: nothing to remove any more

 private:
  TemporaryFile(Descriptor descriptor, std::filesystem::path path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}
  Descriptor descriptor_;
  std::filesystem::path path_;
};

// Removes temporaries whose writers are gone: older than a minute, and nobody holds the lock.
void remove_dead_temporaries(const std::filesystem::path& folder);

}  // namespace enginery
