#include "pipeline/signature.h"

#include "engine/base/signed_file.h"

namespace enginery {

Result<NamedBlob> sign_engine(BlobStore& blobs, const SigningKey& key, const EngineCheck& check,
                              const Digest& unsigned_engine) {
  TRY(Bytes bytes, blobs.get(unsigned_engine));
  const auto file = std::make_shared<Bytes>(std::move(bytes));
  CHECK_OK(check(file));
  *file += signature_trailer(unsigned_engine, key);  // a blob's name is the digest of its bytes
  TRY(const Digest stored, blobs.put(as_bytes(*file)));
  return NamedBlob{"engine", stored, file->size()};
}

}  // namespace enginery
