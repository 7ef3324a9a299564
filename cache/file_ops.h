// The file-system calls that the blob store needs beyond engine/base/file.h, as errors with a
// sentence, and the seam below those on which durability rests.
//
// Where: below LocalBlobStore, BlobWriter and verify. Threads: free functions without state; a
// Descriptor or TemporaryFile belongs to one thread at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/digest.h"

struct stat;

namespace enginery {

// What to do about a disk that is full: the end of every such message of the catalog.
inline constexpr const char* kMakeRoom =
    "; make room on that disk, for example with: enginery catalog gc";

// The two system calls that decide what a power cut leaves. The store uses SystemDurability; tests
// put a recorder in its place that notes what was synced and renamed, and in which order, because
// the page cache hides a forgotten sync from every test that only kills a process. Thread-safe.
class Durability {
 public:
  virtual ~Durability() = default;
  // fsync(2) of a file or folder: 0, or -1 with errno.
  virtual int sync(int fd) = 0;
  // renameat2(2) with RENAME_NOREPLACE: 0, or -1 with errno.
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
};

class SystemDurability final : public Durability {
 public:
  int sync(int fd) override;
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
};

// Owns one file descriptor; -1 is none.
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

// Takes the room of a file of so many bytes without changing its length; ok where the file system
// cannot. storage: the disk is full.
Status reserve_room(int fd, uint64_t size_bytes, const std::filesystem::path& file);

// At most `size` bytes from `offset`; fewer at the end of the file.
Result<Bytes> read_at(int fd, uint64_t offset, uint64_t size, const std::filesystem::path& file);

// Calls `take` with the file's content, chunk by chunk, from its begin to its end or `limit`; says
// how many bytes there were.
Result<uint64_t> read_chunks(int fd, const std::filesystem::path& file,
                             const std::function<Status(ByteSpan)>& take,
                             uint64_t limit = UINT64_MAX);

struct HashedFile {
  Digest digest;            // SHA-256 of the content
  uint64_t size_bytes = 0;  // that was read
};
// Hashes the file from its begin, `limit` bytes at most, whatever the descriptor's position.
// storage: it cannot be read.
Result<HashedFile> hash_file(int fd, const std::filesystem::path& file,
                             uint64_t limit = UINT64_MAX);

// Makes the file's content durable. storage: `file` names it in the message.
Status sync_file(Durability& durability, int fd, const std::filesystem::path& file);

// Makes the folder's entries durable: what was created, renamed or removed in it. storage.
Status sync_folder(Durability& durability, const std::filesystem::path& folder);

// A rename that never replaces; false when `to` exists already. storage. It is not durable before
// the folder of `to` is synced.
Result<bool> rename_without_replacing(Durability& durability, const std::filesystem::path& from,
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

// Removes temporaries whose writers are gone: older than a minute before `now` (wall time), and
// without a lock on them.
void remove_dead_temporaries(const std::filesystem::path& folder, Nanoseconds now);

// How long ago a file was last written, seen from `now` (wall time).
Nanoseconds age_of(const struct stat& file, Nanoseconds now);

}  // namespace enginery
