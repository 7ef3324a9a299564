#include "engine/base/signed_file.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

struct Signed {
  SigningKey key = SigningKey::generate();
  Bytes body = "an engine's bytes";
  Bytes file = body + signature_trailer(sha256(body), key);
  TrustStore trust{{key.public_key()}};
};

TEST(SignedFile, GivesBackTheBodyAndTheSigner) {
  const Signed s;
  const Result<SignedParts> parts = check_signature(as_bytes(s.file), s.trust);
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_EQ(as_text(parts->body), s.body);
  EXPECT_EQ(parts->signer, s.key.public_key());
}

TEST(SignedFile, RefusesEveryFlippedByte) {
  const Signed s;
  for (size_t at = 0; at < s.file.size(); ++at) {
    Bytes changed = s.file;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    const Result<SignedParts> parts = check_signature(as_bytes(changed), s.trust);
    ASSERT_FALSE(parts.ok()) << "byte " << at;
    EXPECT_EQ(parts.error().code, ErrorCode::untrusted);
  }
}

TEST(SignedFile, RefusesEveryCutAndAppendedBytes) {
  const Signed s;
  for (size_t size = 0; size < s.file.size(); ++size)
    ASSERT_FALSE(check_signature(as_bytes(std::string_view(s.file).substr(0, size)), s.trust).ok())
        << size;
  EXPECT_FALSE(check_signature(as_bytes(s.file + "x"), s.trust).ok());
  EXPECT_FALSE(check_signature(as_bytes(s.file + s.file.substr(s.body.size())), s.trust).ok());
}

TEST(SignedFile, NamesTheUnknownKeyAndTheCommandThatTrustsIt) {
  const Signed s;
  const Result<SignedParts> parts = check_signature(as_bytes(s.file), TrustStore{});
  ASSERT_FALSE(parts.ok());
  EXPECT_EQ(parts.error().code, ErrorCode::untrusted);
  EXPECT_NE(parts.error().message.find(key_id(s.key.public_key())), std::string::npos);
  EXPECT_NE(parts.error().message.find("enginery keys trust"), std::string::npos);
}

}  // namespace
}  // namespace enginery
