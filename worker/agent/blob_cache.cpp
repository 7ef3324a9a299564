#include "worker/agent/blob_cache.h"

#include <algorithm>

#include "engine/base/file.h"

namespace enginery {

namespace fs = std::filesystem;

Result<fs::path> BlobCache::fetch(FarmConnection& farm, const Digest& digest,
                                  const TransferProgress& progress) {
  const fs::path file = folder_ / digest.hex();
  TRY(bool here, has(file, digest));
  if (!here) {
    TRY(const Bytes bytes,
        farm.call([&](Client& client) { return client.get_blob(digest, progress); }));
    CHECK_OK(make_folder(folder_));
    CHECK_OK(write_file(file, bytes, 0444));
  }
  std::error_code ignored;  // only the order of removal depends on it
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  in_use_.insert(digest.hex());
  trim();
  return file;
}

// A damaged copy is dropped and fetched again.
Result<bool> BlobCache::has(const fs::path& file, const Digest& digest) const {
  auto bytes = read_file(file);
  if (!bytes.ok() && bytes.error().code == ErrorCode::not_found) return false;
  if (!bytes.ok()) return bytes.error().within("blob cache");
  if (sha256(*bytes) == digest) return true;
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
