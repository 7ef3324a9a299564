// LocalBlobStore's care for its folders: the mark of sha256/, damaged files, files without a row.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cache/local_blob_store.h"
#include "cache/private_folder.h"
#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".enginery-blobs";  // in sha256/: this is the folder, not its place
constexpr std::chrono::hours kQuarantineAge{30 * 24};
constexpr size_t kQuarantineFiles = 1000;

// The digest that a file's place sha256/ab/cdef... spells; nothing for a foreign name.
std::optional<Digest> digest_of(const fs::path& file) {
  std::string hex = file.parent_path().filename().string() + file.filename().string();
  Result<Digest> digest = Digest::parse(hex);
  if (!digest.ok() || digest->hex() != hex) return std::nullopt;
  return *digest;
}

}  // namespace

// ---- the folder

// Marks the folder of a new store, and of one from before there were marks whose files are seen.
Status LocalBlobStore::mark_known_folder() {
  if (check_folder().ok()) return {};
  TRY(const auto files, database_.find_integer("SELECT 1 FROM blob WHERE place=?1 LIMIT 1",
                                               static_cast<int>(BlobPlace::file)));
  std::error_code error;
  const fs::directory_iterator content(folder_ / "sha256", error);
  const bool seen = !error && content != fs::directory_iterator();
  return files && !seen ? Status() : accept_folder();
}

Status LocalBlobStore::check_folder() const {
  const fs::path folder = folder_ / "sha256";
  struct stat info {};
  if (stat((folder / kMark).c_str(), &info) == 0) return {};
  if (errno != ENOENT && errno != ENOTDIR)
    return Error{ErrorCode::storage,
                 "stat " + (folder / kMark).string() + ": " + std::strerror(errno)};
  return Error{ErrorCode::storage,
               "the blob folder " + folder.string() + " is away: its mark " + kMark +
                   " is missing; mount it again, or give up what it held with: enginery catalog "
                   "verify --repair"};
}

Status LocalBlobStore::accept_folder() const {
  const fs::path folder = folder_ / "sha256";
  CHECK_OK(make_private_folder(folder));
  TRY(const Descriptor mark, open_file(folder / kMark, O_WRONLY | O_CREAT, 0444));
  CHECK_OK(sync_file(durability_, mark.get(), folder / kMark));
  CHECK_OK(sync_folder(durability_, folder));
  return sync_folder(durability_, folder_);
}

Error LocalBlobStore::absent(const Digest& digest) const {
  const Status here = check_folder();
  return here.ok() ? missing(digest, "its file is gone")
                   : here.error().within("blob " + digest.text());
}

fs::path LocalBlobStore::path_of(const Digest& digest) const {
  std::string hex = digest.hex();
  return folder_ / "sha256" / hex.substr(0, 2) / hex.substr(2);
}

// ---- blobs that are the beginning of others

Result<bool> LocalBlobStore::share(const Digest& part, const Digest& whole) {
  TRY(const LocalBlob small, find(part));
  TRY(LocalBlob large, find(whole));
  if (small.place != BlobPlace::file || large.place != BlobPlace::file ||
      small.info.size_bytes >= large.info.size_bytes)
    return false;
  TRY(const Descriptor file, open_content(large));
  TRY(const HashedFile begin, hash_file(file.get(), path_of(whole), small.info.size_bytes));
  if (begin.digest != part) return false;
  TRY(Transaction transaction, Transaction::begin(database_));
  CHECK_OK(database_.execute("UPDATE blob SET place=?2 WHERE digest=?1", part,
                             static_cast<int>(BlobPlace::part)));
  CHECK_OK(database_.execute("INSERT OR REPLACE INTO blob_part(digest, whole) VALUES(?1, ?2)", part,
                             whole));
  CHECK_OK(transaction.commit());
  forget(part);
  // Only now, when the rows are durable; a crash before leaves an orphan, which verify takes up.
  if (unlink(path_of(part).c_str()) != 0 && errno != ENOENT)
    return errno_error("remove " + path_of(part).string(), errno);
  return true;
}

// ---- damaged files, and files without a row

Status LocalBlobStore::move_to_quarantine(const fs::path& file) {
  std::string name = file.parent_path().filename().string() + file.filename().string();
  std::string target =
      (folder_ / "quarantine" / (name + "." + std::to_string(clock_.wall_time().count()))).string();
  if (rename(file.c_str(), target.c_str()) == 0 || errno == ENOENT) return {};
  return Error{ErrorCode::storage,
               "move " + file.string() + " to quarantine: " + std::strerror(errno)};
}

Result<std::vector<LocalBlob>> LocalBlobStore::rows() {
  std::vector<LocalBlob> out;
  TRY(Statement row,
      database_.prepare("SELECT digest, size_bytes, place FROM blob ORDER BY digest"));
  while (true) {
    TRY(bool found, row.step());
    if (!found) return out;
    out.push_back({{row.digest(0), static_cast<uint64_t>(row.integer(1))},
                   static_cast<BlobPlace>(row.integer(2))});
  }
}

Result<std::vector<BlobInfo>> LocalBlobStore::list() {
  TRY(std::vector<LocalBlob> blobs, rows());
  std::vector<BlobInfo> out;
  for (const LocalBlob& blob : blobs) out.push_back(blob.info);
  return out;
}

Result<std::vector<fs::path>> LocalBlobStore::orphans() {
  std::vector<fs::path> out;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(folder_ / "sha256", error)) {
    if (entry.is_directory(error) || entry.path().filename() == kMark) continue;
    std::optional<Digest> digest = digest_of(entry.path());
    Result<LocalBlob> row =
        digest ? find(*digest) : Result<LocalBlob>(Error{ErrorCode::not_found, ""});
    if (!row.ok() && row.error().code != ErrorCode::not_found) return row.error();
    if (!row.ok() || row->place != BlobPlace::file) out.push_back(entry.path());
  }
  if (error)
    return Error{ErrorCode::storage,
                 "list " + (folder_ / "sha256").string() + ": " + error.message()};
  std::ranges::sort(out);
  return out;
}

Result<uint64_t> LocalBlobStore::rehash(const Digest& digest) {
  TRY(LocalBlob blob, find(digest));
  if (blob.place == BlobPlace::database) {
    TRY(Bytes bytes, inline_bytes(digest));
    if (sha256(bytes) != digest)
      return damaged(digest, "its bytes in the database have another hash");
    return static_cast<uint64_t>(bytes.size());
  }
  TRY(const Descriptor descriptor, open_content(blob));
  TRY(HashedFile found, hash_file(descriptor.get(), path_of(blob.file), blob.info.size_bytes));
  if (found.digest != digest) return damaged(digest, "its file has another hash");
  return found.size_bytes;
}

Status LocalBlobStore::take_up(const fs::path& orphan) {
  std::optional<Digest> digest = digest_of(orphan);
  if (!digest) return move_to_quarantine(orphan);
  TRY(Descriptor descriptor, open_file(orphan, O_RDONLY));
  TRY(HashedFile found, hash_file(descriptor.get(), orphan));
  if (found.digest != *digest) return move_to_quarantine(orphan);
  TRY(bool there, intact(*digest));
  if (there)
    return unlink(orphan.c_str()) == 0 ? Status()
                                       : Status(errno_error("remove " + orphan.string(), errno));
  return add_row(*digest, found.size_bytes, BlobPlace::file);
}

void LocalBlobStore::prune_quarantine() {
  std::vector<std::pair<Nanoseconds, fs::path>> youngest_first;  // by the time in their names
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ / "quarantine", error)) {
    const std::string suffix = entry.path().extension().string();
    const Nanoseconds set_aside(suffix.empty() ? 0 : std::strtoll(suffix.c_str() + 1, nullptr, 10));
    youngest_first.emplace_back(clock_.wall_time() - set_aside, entry.path());
  }
  std::sort(youngest_first.begin(), youngest_first.end());
  for (size_t i = 0; i < youngest_first.size(); ++i) {
    const auto& [age, file] = youngest_first[i];
    if (i >= kQuarantineFiles || age > kQuarantineAge) (void)unlink(file.c_str());
  }
}

}  // namespace enginery
