#include "worker/agent/blob_cache.h"

#include <fcntl.h>

#include <algorithm>

#include "cache/file_ops.h"
#include "engine/base/file.h"
#include "worker/agent/file_transfer.h"

namespace enginery {

namespace fs = std::filesystem;

Result<fs::path> BlobCache::fetch(FarmConnection& farm, const Digest& digest,
                                  const TransferProgress& progress) {
  const fs::path file = folder_ / digest.hex();
  TRY(bool here, has(file, digest));
  if (!here) {
    CHECK_OK(make_folder(folder_));
    CHECK_OK(download_file(farm, digest, file, progress));
  }
  std::error_code ignored;  // only the order of removal depends on it
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  in_use_.insert(digest.hex());
  trim();
  return file;
}

// A damaged copy is dropped and fetched again.
Result<bool> BlobCache::has(const fs::path& file, const Digest& digest) const {
  const Result<Descriptor> descriptor = open_file(file, O_RDONLY);
  if (!descriptor.ok() && descriptor.error().code == ErrorCode::not_found) return false;
  if (!descriptor.ok()) return descriptor.error().within("blob cache");
  const Result<HashedFile> found = hash_file(descriptor->get(), file);
  if (!found.ok()) return found.error().within("blob cache");
  if (found->digest == digest) return true;
  std::error_code ignored;
  fs::remove(file, ignored);
  return false;
}

void BlobCache::trim() const {
  struct Entry {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& item : fs::directory_iterator(folder_, error)) {
    const uint64_t bytes = item.file_size(error);
    if (error) continue;
    entries.push_back({item.last_write_time(error), bytes, item.path()});
    total += bytes;
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) return;
    if (in_use_.count(entry.path.filename().string())) continue;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace enginery
