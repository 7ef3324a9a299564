#include "coordinator/server/health.h"

#include "cache/local_blob_store.h"

namespace enginery {
namespace {

// Never the same twice: a blob that is there already would not be written.
Bytes probe_bytes(const Catalog& catalog) {
  Bytes bytes = "enginery health " + std::to_string(catalog.clock().wall_time().count()) + "\n";
  bytes.resize(kInlineBlobBytes + 1, '.');
  return bytes;
}

Status at(const char* what, const Status& status) {
  return status.ok() ? status : Status(status.error().within(what));
}

}  // namespace

Status try_catalog(Catalog& catalog) {
  const Bytes bytes = probe_bytes(catalog);
  const Result<Digest> blob = catalog.blobs().put(as_bytes(bytes));
  if (!blob.ok()) return blob.error().within("write a blob");
  Status tried = at("write a row", catalog.engines().pin(*blob, "health"));
  if (tried.ok()) {
    const Result<Bytes> read = catalog.blobs().get(*blob);
    if (!read.ok()) tried = read.error().within("read a blob");
    if (const Status unpinned = catalog.engines().unpin(*blob); tried.ok())
      tried = at("remove a row", unpinned);
  }
  const Status removed = catalog.blobs().remove(*blob);
  return tried.ok() ? at("remove a blob", removed) : tried;
}

}  // namespace enginery
