#include "engine/base/signed_digests.h"

#include <openssl/evp.h>

#include <memory>
#include <new>

namespace enginery {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// OpenSSL's only reason to refuse is that there is no memory.
void require_memory(bool done) {
  if (!done) throw std::bad_alloc();
}

void hash_on(const DigestContext& context, ByteSpan bytes) {
  require_memory(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
}

// Of what was hashed so far; the context goes on.
Digest digest_so_far(const DigestContext& context) {
  const DigestContext copy(EVP_MD_CTX_new());
  Digest out;
  require_memory(copy && EVP_MD_CTX_copy_ex(copy.get(), context.get()) == 1 &&
                 EVP_DigestFinal_ex(copy.get(), out.bytes.data(), nullptr) == 1);
  return out;
}

}  // namespace

SignedDigests digests_of(ByteSpan file, size_t prefix_bytes) {
  const size_t body_bytes = file.size() - kSignatureTrailerBytes;
  const DigestContext context(EVP_MD_CTX_new());
  require_memory(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  SignedDigests out;
  hash_on(context, file.first(prefix_bytes));
  out.prefix = digest_so_far(context);
  hash_on(context, file.subspan(prefix_bytes, body_bytes - prefix_bytes));
  out.body = digest_so_far(context);
  hash_on(context, file.last(kSignatureTrailerBytes));
  out.whole = digest_so_far(context);
  return out;
}

}  // namespace enginery
