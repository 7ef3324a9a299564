#include "cache/blob_store.h"

namespace enginery {

Result<bool> has_blob(BlobStore& store, const Digest& digest) {
  Result<uint64_t> size = store.size(digest);
  if (size.ok()) return true;
  if (size.error().code == ErrorCode::not_found) return false;
  return size.error();
}

}  // namespace enginery
