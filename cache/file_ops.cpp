#include "cache/file_ops.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunkBytes = 1 << 20;

Error storage_error(const std::string& what, const fs::path& file, int number) {
  std::string text = what + " " + file.string() + ": " + std::strerror(number);
  if (number == ENOSPC || number == EDQUOT) text += kMakeRoom;
  return {ErrorCode::storage, std::move(text)};
}

Status reserve(int fd, uint64_t bytes, const fs::path& file) {
  int number = 0;
  do {
    number = bytes == 0 ? 0 : posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  } while (number == EINTR);
  if (number == 0) return {};
  return storage_error("reserve " + std::to_string(bytes) + " bytes for", file, number);
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<Descriptor> open_file(const fs::path& file, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = open(file.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return errno_error("open " + file.string(), errno);
  return Descriptor(fd);
}

Status write_all(int fd, ByteSpan bytes, const fs::path& file) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return storage_error("write", file, errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return {};
}

Status reserve_room(int fd, uint64_t size_bytes, const fs::path& file) {
  if (size_bytes == 0) return {};
  int result = 0;
  do {
    result = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size_bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return storage_error("reserve " + std::to_string(size_bytes) + " bytes for", file, errno);
}

Result<Bytes> read_at(int fd, uint64_t offset, uint64_t size, const fs::path& file) {
  Bytes out(size, '\0');
  size_t done = 0;
  while (done < out.size()) {
    ssize_t n = pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return storage_error("read", file, errno);
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  out.resize(done);
  return out;
}

Result<uint64_t> read_chunks(int fd, const fs::path& file,
                             const std::function<Status(ByteSpan)>& take, uint64_t limit) {
  Bytes buffer(kChunkBytes, '\0');
  uint64_t total = 0;
  while (true) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), limit - total);
    ssize_t n = pread(fd, buffer.data(), wanted, static_cast<off_t>(total));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return storage_error("read", file, errno);
    if (n == 0) return total;
    CHECK_OK(take(as_bytes(std::string_view(buffer.data(), static_cast<size_t>(n)))));
    total += static_cast<uint64_t>(n);
  }
}

Result<HashedFile> hash_file(int fd, const fs::path& file, uint64_t limit) {
  Sha256 hash;
  const auto take = [&](ByteSpan chunk) {
    hash.update(chunk);
    return Status();
  };
  TRY(uint64_t size_bytes, read_chunks(fd, file, take, limit));
  return HashedFile{hash.finish(), size_bytes};
}

int SystemDurability::sync(int fd) {
  return fsync(fd);
}

int SystemDurability::rename(const fs::path& from, const fs::path& to) {
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE);
}

Status sync_file(Durability& durability, int fd, const fs::path& file) {
  if (durability.sync(fd) != 0) return storage_error("sync", file, errno);
  return {};
}

Status sync_folder(Durability& durability, const fs::path& folder) {
  TRY(const Descriptor descriptor, open_file(folder, O_RDONLY | O_DIRECTORY));
  if (durability.sync(descriptor.get()) != 0) return storage_error("sync folder", folder, errno);
  return {};
}

Result<bool> rename_without_replacing(Durability& durability, const fs::path& from,
                                      const fs::path& to) {
  if (durability.rename(from, to) == 0) return true;
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) return storage_error("rename to", to, errno);
  // A file system without the flag (some network ones): a hard link does not replace either.
  if (link(from.c_str(), to.c_str()) != 0) {
    if (errno == EEXIST) return false;
    return storage_error("link", to, errno);
  }
  if (unlink(from.c_str()) != 0) return storage_error("remove", from, errno);
  return true;
}

Result<TemporaryFile> TemporaryFile::create(const fs::path& folder, uint64_t bytes) {
  std::string name = (folder / "XXXXXX").string();
  int fd = mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) return storage_error("create a temporary file in", folder, errno);
  TemporaryFile file(Descriptor(fd), name);
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return storage_error("lock", name, errno);
  CHECK_OK(reserve(fd, bytes, file.path()));
  return file;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), path_(std::exchange(other.path_, {})) {}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) (void)unlink(path_.c_str());
}

Nanoseconds age_of(const struct stat& file, Nanoseconds now) {
  return now - std::chrono::seconds(file.st_mtim.tv_sec) - Nanoseconds(file.st_mtim.tv_nsec);
}

void remove_dead_temporaries(const fs::path& folder, Nanoseconds now) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    // A minute covers the moment between a writer's creating its file and locking it.
    if (age_of(info, now) < std::chrono::minutes(1)) continue;
    const Descriptor descriptor(open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (descriptor.get() >= 0 && flock(descriptor.get(), LOCK_EX | LOCK_NB) == 0)
      (void)unlink(entry.path().c_str());
  }
}

}  // namespace enginery
