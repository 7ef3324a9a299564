#include "cache/completeness.h"

namespace enginery {

Result<std::optional<uint64_t>> size_if_there(BlobStore& blobs, const Digest& digest) {
  const Result<uint64_t> size = blobs.size(digest);
  if (size.ok()) return std::optional<uint64_t>(*size);
  if (size.error().code != ErrorCode::not_found) return size.error();
  return std::optional<uint64_t>();
}

Status forget_blob(Database& database, BlobStore& blobs, const Clock& clock, const Digest& digest) {
  int64_t now = clock.wall_time().count();
  TRY(Transaction transaction, Transaction::begin(database));
  CHECK_OK(database.execute(
      "UPDATE result SET gone_ns=?2 WHERE gone_ns IS NULL AND (key, generation) IN "
      "(SELECT key, generation FROM result_output WHERE digest=?1)",
      digest, now));
  CHECK_OK(database.execute("UPDATE engine SET gone_ns=?2 WHERE gone_ns IS NULL AND digest=?1",
                            digest, now));
  CHECK_OK(database.execute(
      "UPDATE calibration SET gone_ns=?2 WHERE gone_ns IS NULL AND histograms=?1", digest, now));
  CHECK_OK(blobs.remove(digest));
  return transaction.commit();
}

Result<DigestRange> digest_range(std::string_view prefix) {
  std::string_view hex = prefix.starts_with("sha256:") ? prefix.substr(7) : prefix;
  if (hex.size() < 8 || hex.size() > 64) {
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(prefix) + "': a digest is sha256: and 8 to 64 hex digits"};
  }
  std::string first(hex), last(hex);
  first.resize(64, '0');
  last.resize(64, 'f');
  Result<Digest> low = Digest::parse(first), high = Digest::parse(last);
  if (!low.ok() || !high.ok()) {
    return Error{ErrorCode::invalid_argument,
                 "'" + std::string(prefix) + "': a digest is sha256: and 8 to 64 hex digits"};
  }
  return DigestRange{*low, *high};
}

}  // namespace enginery
