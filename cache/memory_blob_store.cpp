#include "cache/memory_blob_store.h"

namespace enginery {
namespace {

Error missing(const Digest& digest) {
  return {ErrorCode::not_found, "blob " + digest.text() + ": not in the store"};
}

}  // namespace

Result<Digest> MemoryBlobStore::put(ByteSpan bytes) {
  Digest digest = sha256(bytes);
  std::lock_guard lock(mutex_);
  blobs_.try_emplace(digest, as_text(bytes));
  return digest;
}

Result<Bytes> MemoryBlobStore::get(const Digest& digest) {
  std::lock_guard lock(mutex_);
  auto found = blobs_.find(digest);
  if (found == blobs_.end()) return missing(digest);
  if (sha256(found->second) != digest) {
    blobs_.erase(found);
    return Error{ErrorCode::corrupt_data,
                 "blob " + digest.text() + ": its bytes have another hash"};
  }
  return found->second;
}

Result<Bytes> MemoryBlobStore::read_range(const Digest& digest, uint64_t offset, uint64_t size) {
  TRY(Bytes bytes, get(digest));
  if (offset >= bytes.size()) return Bytes();
  return bytes.substr(offset, size);
}

Result<uint64_t> MemoryBlobStore::size(const Digest& digest) {
  std::lock_guard lock(mutex_);
  auto found = blobs_.find(digest);
  if (found == blobs_.end()) return missing(digest);
  return static_cast<uint64_t>(found->second.size());
}

Status MemoryBlobStore::remove(const Digest& digest) {
  std::lock_guard lock(mutex_);
  blobs_.erase(digest);
  return {};
}

Result<std::vector<BlobInfo>> MemoryBlobStore::list() {
  std::lock_guard lock(mutex_);
  std::vector<BlobInfo> out;
  for (const auto& [digest, bytes] : blobs_) out.push_back({digest, bytes.size()});
  return out;
}

void MemoryBlobStore::damage(const Digest& digest) {
  std::lock_guard lock(mutex_);
  if (auto found = blobs_.find(digest); found != blobs_.end() && !found->second.empty())
    found->second[0] ^= 1;
}

}  // namespace enginery
