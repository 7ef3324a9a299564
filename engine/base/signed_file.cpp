#include "engine/base/signed_file.h"

#include "engine/base/signed_digests.h"

#include <algorithm>
#include <cstring>

namespace enginery {
namespace {

constexpr std::string_view kMagic = "ENGSIG01";

struct Trailer {
  PublicKey key{};
  Signature signature{};
};

Result<Trailer> read_trailer(ByteSpan file) {
  if (file.size() < kSignatureTrailerBytes)
    return Error{ErrorCode::untrusted,
                 "signature: the file has " + std::to_string(file.size()) +
                     " bytes, too few for a signed engine; it was cut or is something else"};
  const ByteSpan bytes = file.last(kSignatureTrailerBytes);
  if (as_text(bytes.first(kMagic.size())) != kMagic)
    return Error{
        ErrorCode::untrusted,
        "signature: no signature at the file's end; it was cut, appended to, or never signed"};
  Trailer trailer;
  std::memcpy(trailer.key.data(), bytes.data() + kMagic.size(), trailer.key.size());
  std::memcpy(trailer.signature.data(), bytes.data() + kMagic.size() + trailer.key.size(),
              trailer.signature.size());
  return trailer;
}

Status require_trusted(const Trailer& trailer, const TrustStore& trust) {
  if (!trust.trusts(trailer.key)) {
    const std::string id = key_id(trailer.key);
    return Error{ErrorCode::untrusted,
                 "signature: made with key " + id +
                     ", which is not trusted here; if you know whose it is, trust it with: "
                     "enginery keys trust FILE (FILE holds the public key " +
                     to_hex(std::as_bytes(std::span(trailer.key))) + ")"};
  }
  return {};
}

// What is signed of a front: never 32 bytes, as what a trailer signs is.
Bytes front_message(const Digest& of_front) {
  return "ENGFRONT" + Bytes(as_text(std::as_bytes(std::span(of_front.bytes))));
}

}  // namespace

Bytes signature_trailer(const Digest& of_everything_before, const SigningKey& key) {
  const Signature signature = key.sign(std::as_bytes(std::span(of_everything_before.bytes)));
  Bytes trailer(kMagic);
  trailer.append(reinterpret_cast<const char*>(key.public_key().data()), key.public_key().size());
  trailer.append(reinterpret_cast<const char*>(signature.data()), signature.size());
  return trailer;
}

Result<SignedParts> check_signature(ByteSpan file, const TrustStore& trust) {
  // Trust first: an unknown key's verdict about the bytes means nothing, and its owner needs the
  // id.
  CHECK_OK(trusted_signer(file, trust));
  return check_signature(file, trust, sha256(file.first(file.size() - kSignatureTrailerBytes)));
}

Signature sign_front(const Digest& of_front, const SigningKey& key) {
  return key.sign(as_bytes(front_message(of_front)));
}

bool verify_front(const Digest& of_front, const PublicKey& key, const Signature& signature) {
  return verify_signature(key, as_bytes(front_message(of_front)), signature);
}

Result<PublicKey> trusted_signer(ByteSpan file, const TrustStore& trust) {
  TRY(const Trailer trailer, read_trailer(file));
  CHECK_OK(require_trusted(trailer, trust));
  return trailer.key;
}

Result<SignedParts> check_signature(ByteSpan file, const TrustStore& trust, const Digest& of_body) {
  TRY(const Trailer trailer, read_trailer(file));
  CHECK_OK(require_trusted(trailer, trust));
  const ByteSpan body = file.first(file.size() - kSignatureTrailerBytes);
  if (!verify_signature(trailer.key, std::as_bytes(std::span(of_body.bytes)), trailer.signature))
    return Error{ErrorCode::untrusted, "signature: the file's bytes changed after key " +
                                           key_id(trailer.key) +
                                           " signed them; fetch or build it again"};
  return SignedParts{body, trailer.key};
}

}  // namespace enginery
