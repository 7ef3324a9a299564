#include "cache/local_blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cache/file_ops.h"
#include "cache/private_folder.h"
#include "engine/base/file.h"
#include "engine/base/huge_pages.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRememberedFiles = 65536;
// Behind a large blob: the engine that is signed grows by its statement, and is not moved for that.
constexpr size_t kRoomBehind = 64 << 10;

int64_t nanoseconds(const timespec& t) {
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Error LocalBlobStore::missing(const Digest& digest, const std::string& why) {
  return {ErrorCode::not_found, "blob " + digest.text() + ": " + why};
}

Error LocalBlobStore::damaged(const Digest& digest, const std::string& why) {
  return {ErrorCode::corrupt_data, "blob " + digest.text() + ": " + why};
}

Result<std::unique_ptr<LocalBlobStore>> LocalBlobStore::open(const fs::path& folder,
                                                             Database& database, const Clock& clock,
                                                             Durability& durability) {
  for (const char* name : {"sha256", "tmp", "quarantine"})
    CHECK_OK(make_private_folder(folder / name));
  remove_dead_temporaries(folder / "tmp", clock.wall_time());
  auto store = std::make_unique<LocalBlobStore>(Opened(), folder, database, clock, durability);
  CHECK_OK(store->mark_known_folder());
  return store;
}

std::unique_ptr<LocalBlobStore> LocalBlobStore::over(const fs::path& folder, Database& database,
                                                     const Clock& clock, Durability& durability) {
  return std::make_unique<LocalBlobStore>(Opened(), folder, database, clock, durability);
}

// ---- writing

Result<Digest> LocalBlobStore::put(ByteSpan bytes) {
  Digest digest = sha256(bytes);
  TRY(bool there, intact(digest));
  if (there) return digest;
  if (bytes.size() < kInlineBlobBytes) {
    CHECK_OK(put_inline(digest, bytes));
    return digest;
  }
  TRY(TemporaryFile file, TemporaryFile::create(folder_ / "tmp", bytes.size()));
  CHECK_OK(write_all(file.fd(), bytes, file.path()));
  CHECK_OK(publish(file.path(), file.fd(), digest, bytes.size()));
  file.moved_away();
  return digest;
}

Status LocalBlobStore::adopt(const fs::path& file, const Digest& expected,
                             const std::optional<Digest>& written) {
  TRY(Descriptor descriptor, open_file(file, O_RDONLY));
  TRY(const Seen seen, look_at(descriptor.get(), file));
  HashedFile found{written.value_or(Digest{}), seen.size_bytes};
  if (!written) {
    TRY(found, hash_file(descriptor.get(), file));
  }
  if (found.digest != expected) {
    return damaged(expected, "the bytes that arrived have the hash " + found.digest.text());
  }
  TRY(bool there, intact(expected));
  if (!there && found.size_bytes >= kInlineBlobBytes) {
    return publish(file, descriptor.get(), expected, found.size_bytes);
  }
  if (!there) {
    TRY(Bytes bytes, read_at(descriptor.get(), 0, found.size_bytes, file));
    CHECK_OK(put_inline(expected, as_bytes(bytes)));
  }
  if (unlink(file.c_str()) != 0) return errno_error("remove " + file.string(), errno);
  return {};
}

// The content is complete in `file` when this begins, and durable under its name before the row
// says so.
Status LocalBlobStore::publish(const fs::path& file, int fd, const Digest& digest,
                               uint64_t size_bytes) {
  if (fchmod(fd, 0444) != 0)
    return Error{ErrorCode::storage, "chmod " + file.string() + ": " + std::strerror(errno)};
  CHECK_OK(sync_file(durability_, fd, file));
  CHECK_OK(move_in(file, digest));
  TRY(Seen seen, look_at(fd, file));
  remember(digest, seen);
  return add_row(digest, size_bytes, BlobPlace::file);
}

// Makes sha256/ab. Whoever made it may have died before it synced sha256/: the first blob of each
// folder in this process does that.
Status LocalBlobStore::provide_folder_of(const Digest& digest) {
  const uint8_t number = digest.bytes[0];
  {
    const std::lock_guard lock(mutex_);
    std::error_code error;
    if (durable_folders_[number] && fs::exists(path_of(digest).parent_path(), error)) return {};
  }
  CHECK_OK(make_folder(path_of(digest).parent_path()));
  CHECK_OK(sync_folder(durability_, folder_ / "sha256"));
  const std::lock_guard lock(mutex_);
  durable_folders_.set(number);
  return {};
}

Status LocalBlobStore::move_in(const fs::path& file, const Digest& digest) {
  CHECK_OK(check_folder());
  fs::path target = path_of(digest);
  CHECK_OK(provide_folder_of(digest));
  TRY(bool moved, rename_without_replacing(durability_, file, target));
  if (!moved) {
    // An earlier crash's, or another process's this moment: keep it only if it is right.
    TRY(Descriptor present, open_file(target, O_RDONLY));
    TRY(HashedFile found, hash_file(present.get(), target));
    if (found.digest != digest) {
      CHECK_OK(move_to_quarantine(target));
      TRY(moved, rename_without_replacing(durability_, file, target));
    } else {
      (void)unlink(file.c_str());
    }
  }
  return sync_folder(durability_, target.parent_path());
}

Status LocalBlobStore::put_inline(const Digest& digest, ByteSpan bytes) {
  TRY(Transaction transaction, Transaction::begin(database_));
  CHECK_OK(add_row(digest, bytes.size(), BlobPlace::database));
  CHECK_OK(database_.execute("INSERT OR REPLACE INTO blob_bytes(digest, bytes) VALUES(?1, ?2)",
                             digest, bytes));
  return transaction.commit();
}

Status LocalBlobStore::add_row(const Digest& digest, uint64_t size_bytes, BlobPlace place) {
  CHECK_OK(database_.execute(
      "INSERT INTO blob(digest, size_bytes, place, created_ns) VALUES(?1, ?2, ?3, ?4) "
      "ON CONFLICT(digest) DO UPDATE SET size_bytes=excluded.size_bytes, place=excluded.place",
      digest, size_bytes, static_cast<int>(place), clock_.wall_time().count()));
  CHECK_OK(database_.execute("DELETE FROM blob_part WHERE digest=?1", digest));
  return {};
}

// ---- reading

Result<LocalBlob> LocalBlobStore::find(const Digest& digest) {
  TRY(Statement row,
      database_.prepare("SELECT b.size_bytes, b.place, w.digest, w.size_bytes FROM blob b "
                        "LEFT JOIN blob_part p ON p.digest=b.digest "
                        "LEFT JOIN blob w ON w.digest=p.whole AND w.place=?2 WHERE b.digest=?1",
                        digest, static_cast<int>(BlobPlace::file)));
  TRY(bool found, row.step());
  if (!found) return missing(digest, "not in the store");
  const auto size_bytes = static_cast<uint64_t>(row.integer(0));
  LocalBlob blob{{digest, size_bytes}, static_cast<BlobPlace>(row.integer(1)), digest, size_bytes};
  if (blob.place != BlobPlace::part) return blob;
  if (row.is_null(2)) return missing(digest, "the blob that it is the beginning of is gone");
  blob.file = row.digest(2);
  blob.file_bytes = static_cast<uint64_t>(row.integer(3));
  return blob;
}

// It may have become a part since it was found.
Result<Descriptor> LocalBlobStore::open_content(LocalBlob& blob) {
  Result<Descriptor> opened = open_file(path_of(blob.file), O_RDONLY);
  if (!opened.ok() && opened.error().code == ErrorCode::not_found) {
    const Digest before = blob.file;
    TRY(blob, find(blob.info.digest));
    if (blob.file != before) opened = open_file(path_of(blob.file), O_RDONLY);
  }
  if (!opened.ok() && opened.error().code == ErrorCode::not_found) return absent(blob.info.digest);
  return opened;
}

Result<uint64_t> LocalBlobStore::size(const Digest& digest) {
  TRY(LocalBlob blob, find(digest));
  if (blob.place == BlobPlace::database) return blob.info.size_bytes;
  struct stat info {};
  const auto look = [&] { return stat(path_of(blob.file).c_str(), &info) == 0 ? 0 : errno; };
  int failed = look();
  if (failed == ENOENT || failed == ENOTDIR) {
    const Digest before = blob.file;
    TRY(blob, find(digest));  // it may have become a part since
    failed = blob.file == before ? failed : look();
  }
  if (failed == ENOENT || failed == ENOTDIR) return absent(digest);
  if (failed != 0)
    return Error{ErrorCode::storage,
                 "stat " + path_of(blob.file).string() + ": " + std::strerror(failed)};
  if (static_cast<uint64_t>(info.st_size) != blob.file_bytes) {
    return missing(digest, "its file has " + std::to_string(info.st_size) + " bytes instead of " +
                               std::to_string(blob.file_bytes));
  }
  return blob.info.size_bytes;
}

Result<bool> LocalBlobStore::intact(const Digest& digest) {
  return has_blob(*this, digest);
}

Result<Bytes> LocalBlobStore::get(const Digest& digest) {
  TRY(LocalBlob blob, find(digest));
  return blob.place == BlobPlace::database ? checked_inline(digest) : checked_file(blob);
}

Result<Bytes> LocalBlobStore::inline_bytes(const Digest& digest) {
  TRY(Statement row, database_.prepare("SELECT bytes FROM blob_bytes WHERE digest=?1", digest));
  TRY(bool found, row.step());
  if (!found) return damaged(digest, "its bytes are missing from the database");
  return Bytes(as_text(row.blob(0)));
}

Result<Bytes> LocalBlobStore::checked_inline(const Digest& digest) {
  Result<Bytes> bytes = inline_bytes(digest);
  if (bytes.ok() && sha256(*bytes) != digest)
    return set_aside_as(digest, "its bytes have another hash");
  if (!bytes.ok() && bytes.error().code == ErrorCode::corrupt_data) {
    return set_aside_as(digest, "its bytes cannot be read from the database");
  }
  return bytes;
}

Result<Bytes> LocalBlobStore::checked_file(LocalBlob blob) {
  const Digest digest = blob.info.digest;
  TRY(const Descriptor descriptor, open_content(blob));
  const fs::path file = path_of(blob.file);
  TRY(Seen seen, look_at(descriptor.get(), file));
  if (seen.size_bytes != blob.file_bytes) return set_aside_as(digest, "its file has another size");
  Bytes out;
  out.reserve(blob.info.size_bytes + kRoomBehind);
  prefer_huge_pages(out.data(), out.capacity());
  Sha256 hash;
  const auto take = [&](ByteSpan chunk) {
    hash.update(chunk);
    out += as_text(chunk);
    return Status();
  };
  CHECK_OK(read_chunks(descriptor.get(), file, take, blob.info.size_bytes));
  if (hash.finish() != digest) return set_aside_as(digest, "its file has another hash");
  remember(digest, seen);
  return out;
}

Result<Bytes> LocalBlobStore::read_range(const Digest& digest, uint64_t offset, uint64_t size) {
  TRY(LocalBlob blob, find(digest));
  if (blob.place == BlobPlace::database) {
    TRY(Bytes bytes, checked_inline(digest));
    return offset < bytes.size() ? bytes.substr(offset, size) : Bytes();
  }
  TRY(const Descriptor descriptor, open_content(blob));
  CHECK_OK(check_file(blob, descriptor.get()));
  return read_content(blob, descriptor.get(), offset, size);
}

Result<Bytes> LocalBlobStore::read_unchecked(const Digest& digest, uint64_t offset, uint64_t size) {
  TRY(LocalBlob blob, find(digest));
  if (blob.place == BlobPlace::database) return read_range(digest, offset, size);
  TRY(const Descriptor descriptor, open_content(blob));
  return read_content(blob, descriptor.get(), offset, size);
}

Result<Bytes> LocalBlobStore::read_content(const LocalBlob& blob, int fd, uint64_t offset,
                                           uint64_t size) const {
  if (offset >= blob.info.size_bytes) return Bytes();
  return read_at(fd, offset, std::min(size, blob.info.size_bytes - offset), path_of(blob.file));
}

// Hashes the file unless it is the very one that was right before.
Status LocalBlobStore::check_file(const LocalBlob& blob, int fd) {
  const Digest& digest = blob.info.digest;
  const fs::path file = path_of(blob.file);
  TRY(Seen seen, look_at(fd, file));
  if (seen_right(digest, seen)) return {};
  TRY(HashedFile found, hash_file(fd, file, blob.info.size_bytes));
  if (found.digest != digest) return set_aside_as(digest, "its file has another hash");
  remember(digest, seen);
  return {};
}

// ---- care

// Its bytes go with the row (cascade), and so do the blobs that are its beginning.
Status LocalBlobStore::delete_rows(const Digest& digest) {
  TRY(Transaction transaction, Transaction::begin(database_));
  CHECK_OK(database_.execute(
      "DELETE FROM blob WHERE digest IN (SELECT digest FROM blob_part WHERE whole=?1)", digest));
  CHECK_OK(database_.execute("DELETE FROM blob WHERE digest=?1", digest));
  return transaction.commit();
}

Status LocalBlobStore::remove(const Digest& digest) {
  forget(digest);
  CHECK_OK(delete_rows(digest));
  if (unlink(path_of(digest).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
    return Error{ErrorCode::storage,
                 "remove " + path_of(digest).string() + ": " + std::strerror(errno)};
  }
  return {};
}

Status LocalBlobStore::set_aside(const Digest& digest) {
  forget(digest);
  const Result<LocalBlob> blob = find(digest);
  if (blob.ok() && blob->place == BlobPlace::part) CHECK_OK(set_aside(blob->file));
  CHECK_OK(delete_rows(digest));
  std::error_code error;
  if (!fs::exists(path_of(digest), error)) return {};
  return move_to_quarantine(path_of(digest));
}

Error LocalBlobStore::set_aside_as(const Digest& digest, const std::string& why) {
  Status status = set_aside(digest);
  return damaged(
      digest,
      status.ok() ? why : why + " (and could not be set aside: " + status.error().message + ")");
}

// ---- files known to be right

Result<LocalBlobStore::Seen> LocalBlobStore::look_at(int fd, const fs::path& file) {
  struct stat info {};
  if (fstat(fd, &info) != 0)
    return Error{ErrorCode::storage, "stat " + file.string() + ": " + std::strerror(errno)};
  return Seen{info.st_ino, static_cast<uint64_t>(info.st_size), nanoseconds(info.st_mtim),
              nanoseconds(info.st_ctim)};
}

bool LocalBlobStore::seen_right(const Digest& digest, const Seen& seen) {
  std::lock_guard lock(mutex_);
  auto found = seen_.find(digest);
  return found != seen_.end() && found->second == seen;
}

void LocalBlobStore::remember(const Digest& digest, const Seen& seen) {
  std::lock_guard lock(mutex_);
  if (seen_.size() >= kRememberedFiles) seen_.clear();
  seen_[digest] = seen;
}

void LocalBlobStore::forget(const Digest& digest) {
  std::lock_guard lock(mutex_);
  seen_.erase(digest);
}

}  // namespace enginery
