#include "cache/blob_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "cache/file_ops.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kForgottenAfter{24};

void remove_forgotten(const fs::path& folder, Nanoseconds now) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (age_of(info, now) > kForgottenAfter) (void)unlink(entry.path().c_str());
  }
}

Result<uint64_t> length(int fd, const fs::path& file) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return Error{ErrorCode::storage, "stat " + file.string() + ": " + std::strerror(errno)};
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace

Result<std::unique_ptr<BlobWriter>> BlobWriter::open(LocalBlobStore& store) {
  fs::path folder = store.folder() / "partial";
  CHECK_OK(make_folder(folder));
  remove_forgotten(folder, store.clock().wall_time());
  return std::make_unique<BlobWriter>(Opened(), store, folder);
}

Result<uint64_t> BlobWriter::offset(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  struct stat info {};
  if (stat(path_of(digest).c_str(), &info) == 0) return static_cast<uint64_t>(info.st_size);
  if (errno == ENOENT) return uint64_t{0};
  return Error{ErrorCode::storage,
               "stat " + path_of(digest).string() + ": " + std::strerror(errno)};
}

Result<uint64_t> BlobWriter::append(const Digest& digest, uint64_t at, ByteSpan chunk) {
  std::lock_guard lock(mutex_of(digest));
  fs::path file = path_of(digest);
  TRY(Descriptor descriptor, open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600));
  TRY(uint64_t have, length(descriptor.get(), file));
  if (at > have) {
    return Error{ErrorCode::invalid_argument, "upload of blob " + digest.text() + ": chunk at " +
                                                  std::to_string(at) + ", expected " +
                                                  std::to_string(have)};
  }
  uint64_t known = have - at;
  if (chunk.size() <= known) return have;
  Status status = write_all(descriptor.get(), chunk.subspan(known), file);
  if (!status.ok()) {
    (void)!ftruncate(descriptor.get(), static_cast<off_t>(have));
    return status.error();
  }
  return at + chunk.size();
}

Status BlobWriter::finish(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  fs::path file = path_of(digest);
  TRY(bool there, has_blob(store_, digest));
  if (there) {
    (void)unlink(file.c_str());
    return {};
  }
  std::error_code error;
  // An empty blob needs no chunk.
  if (!fs::exists(file, error) && digest == sha256(std::string_view())) {
    Result<Digest> stored = store_.put({});
    return stored.ok() ? Status() : Status(stored.error());
  }
  Status status = store_.adopt(file, digest);
  if (status.ok()) return {};
  if (status.error().code == ErrorCode::corrupt_data) (void)unlink(file.c_str());
  return status.error().within("finish upload");
}

Status BlobWriter::abandon(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  if (unlink(path_of(digest).c_str()) == 0 || errno == ENOENT) return {};
  return Error{ErrorCode::storage,
               "remove " + path_of(digest).string() + ": " + std::strerror(errno)};
}

}  // namespace enginery
