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
constexpr size_t kMaxRunning = 32;  // uploads that are hashed while they arrive

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
  auto writer = std::make_unique<BlobWriter>(Opened(), store, folder);
  writer->remove_forgotten();
  return writer;
}

void BlobWriter::remove_forgotten() {
  const Nanoseconds now = store_.clock().wall_time();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    struct stat info {};
    if (stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (age_of(info, now) <= kForgottenAfter) continue;
    if (const auto digest = Digest::parse(entry.path().filename().string()); digest.ok())
      (void)take_hash(*digest);
    (void)unlink(entry.path().c_str());
  }
}

Result<uint64_t> BlobWriter::offset(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  struct stat info {};
  if (stat(path_of(digest).c_str(), &info) == 0) return static_cast<uint64_t>(info.st_size);
  if (errno == ENOENT) return uint64_t{0};
  return Error{ErrorCode::storage,
               "stat " + path_of(digest).string() + ": " + std::strerror(errno)};
}

Result<uint64_t> BlobWriter::append(const Digest& digest, uint64_t at, Bytes chunk,
                                    uint64_t size_bytes) {
  std::lock_guard lock(mutex_of(digest));
  fs::path file = path_of(digest);
  TRY(Descriptor descriptor, open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0600));
  TRY(uint64_t have, length(descriptor.get(), file));
  if (at > have) {
    return Error{ErrorCode::invalid_argument, "upload of blob " + digest.text() + ": chunk at " +
                                                  std::to_string(at) + ", expected " +
                                                  std::to_string(have)};
  }
  const uint64_t known = have - at;
  if (chunk.size() <= known) return have;
  if (known > 0) chunk.erase(0, known);
  Status status = have == 0 ? reserve_room(descriptor.get(), size_bytes, file) : Status();
  if (status.ok()) status = write_all(descriptor.get(), as_bytes(chunk), file);
  if (!status.ok()) {
    (void)!ftruncate(descriptor.get(), static_cast<off_t>(have));
    return status.error();
  }
  const uint64_t now = have + chunk.size();
  hash_on(digest, have, std::move(chunk));
  return now;
}

// An upload that was not heard from its begin (a restart) is hashed when it is complete.
void BlobWriter::hash_on(const Digest& digest, uint64_t at, Bytes bytes) {
  const std::lock_guard lock(running_mutex_);
  auto running = running_.find(digest);
  if (running == running_.end() && at == 0 && running_.size() < kMaxRunning)
    running = running_.emplace(digest, std::make_unique<Running>()).first;
  if (running == running_.end()) return;
  if (running->second->bytes != at) {
    running_.erase(running);
    return;
  }
  running->second->bytes += bytes.size();
  running->second->hash.update(std::move(bytes));
}

std::unique_ptr<BlobWriter::Running> BlobWriter::take_hash(const Digest& digest) {
  const std::lock_guard lock(running_mutex_);
  const auto running = running_.find(digest);
  if (running == running_.end()) return nullptr;
  std::unique_ptr<Running> taken = std::move(running->second);
  running_.erase(running);
  return taken;
}

Status BlobWriter::finish(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  fs::path file = path_of(digest);
  const std::unique_ptr<Running> running = take_hash(digest);
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
  std::error_code ignored;
  std::optional<Digest> written;
  if (running && running->bytes == fs::file_size(file, ignored)) written = running->hash.finish();
  Status status = store_.adopt(file, digest, written);
  if (status.ok()) return {};
  if (status.error().code == ErrorCode::corrupt_data) (void)unlink(file.c_str());
  return status.error().within("finish upload");
}

Status BlobWriter::abandon(const Digest& digest) {
  std::lock_guard lock(mutex_of(digest));
  (void)take_hash(digest);
  if (unlink(path_of(digest).c_str()) == 0 || errno == ENOENT) return {};
  return Error{ErrorCode::storage,
               "remove " + path_of(digest).string() + ": " + std::strerror(errno)};
}

}  // namespace enginery
