#include "engine/base/signed_file.h"

#include <gtest/gtest.h>

#include "engine/base/signed_digests.h"

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

TEST(SignedFile, HasItsDigestsInOnePass) {
  const Signed s;
  for (size_t prefix = 0; prefix <= s.body.size(); ++prefix) {
    const SignedDigests digests = digests_of(as_bytes(s.file), prefix);
    EXPECT_EQ(digests.prefix, sha256(s.body.substr(0, prefix)));
    EXPECT_EQ(digests.body, sha256(s.body));
    EXPECT_EQ(digests.whole, sha256(s.file));
  }
  EXPECT_TRUE(check_signature(as_bytes(s.file), s.trust, sha256(s.body)).ok());
  EXPECT_FALSE(check_signature(as_bytes(s.file), s.trust, sha256(s.body + "x")).ok());
  EXPECT_FALSE(check_signature(as_bytes(s.file), TrustStore{}, sha256(s.body)).ok());
  EXPECT_FALSE(check_signature(as_bytes(s.body), s.trust, sha256(s.body)).ok());
}

}  // namespace
}  // namespace enginery
