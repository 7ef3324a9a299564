#include "engine/base/sign.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "enginery-sign-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

TEST(Sha256, MatchesTheStandardsExample) {  // FIPS 180-4, appendix "abc"
  EXPECT_EQ(sha256("abc").hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, ParsesItsOwnTextAndRefusesOthers) {
  Digest d = sha256("x");
  EXPECT_EQ(*Digest::parse(d.text()), d);
  EXPECT_EQ(*Digest::parse(d.hex()), d);
  EXPECT_FALSE(Digest::parse("sha256:12"));
  EXPECT_FALSE(Digest::parse(d.hex() + "0"));
}

TEST(SigningKey, SignsWhatOnlyItsPublicKeyVerifies) {
  SigningKey a = SigningKey::generate(), b = SigningKey::generate();
  Signature s = a.sign(as_bytes("message"));
  EXPECT_TRUE(verify_signature(a.public_key(), as_bytes("message"), s));
  EXPECT_FALSE(verify_signature(b.public_key(), as_bytes("message"), s));
  EXPECT_FALSE(verify_signature(a.public_key(), as_bytes("messagE"), s));
}

// RFC 8032, section 7.1: tests 1, 2, 3 and SHA(abc). Signing and verifying with the same code would
// agree even if both were wrong together; these come from elsewhere.
struct Rfc8032Vector {
  const char *secret, *public_key, *message, *signature;
};

constexpr Rfc8032Vector kRfc8032[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
    {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3fee"
     "b"
     "bd454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e"
     "0"
     "303dca179c138ac17ad9bef1177331a704"},
};

template <size_t N>
std::array<uint8_t, N> array_of(const char* hex) {
  const Bytes raw = *from_hex(hex);
  EXPECT_EQ(raw.size(), N) << hex;
  std::array<uint8_t, N> out{};
  std::copy_n(raw.begin(), std::min(N, raw.size()), out.begin());
  return out;
}

TEST(SigningKey, SignsAsRfc8032Says) {
  Folder folder;
  for (const Rfc8032Vector& v : kRfc8032) {
    const fs::path file = folder.path / (std::string(v.secret).substr(0, 8) + ".key");
    ASSERT_TRUE(write_file(file, std::string(v.secret) + "\n", 0600));
    const auto key = SigningKey::load(file);
    ASSERT_TRUE(key) << key.error().message;
    const Bytes message = *from_hex(v.message);
    EXPECT_EQ(to_hex(std::as_bytes(std::span(key->public_key()))), v.public_key);
    const Signature made = key->sign(as_bytes(message));
    EXPECT_EQ(to_hex(std::as_bytes(std::span(made))), v.signature);
  }
}

TEST(VerifySignature, AcceptsWhatRfc8032Says) {
  for (const Rfc8032Vector& v : kRfc8032) {
    const Bytes message = *from_hex(v.message);
    const auto key = array_of<32>(v.public_key);
    const auto signature = array_of<64>(v.signature);
    EXPECT_TRUE(verify_signature(key, as_bytes(message), signature)) << v.message;
  }
}

TEST(VerifySignature, CoversEveryByteOfMessageSignatureAndKey) {
  const SigningKey key = SigningKey::generate();
  const Bytes message = "thirty-two bytes and a few more..";
  const Signature signature = key.sign(as_bytes(message));
  for (size_t at = 0; at < message.size(); ++at) {
    Bytes changed = message;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(verify_signature(key.public_key(), as_bytes(changed), signature)) << at;
  }
  EXPECT_FALSE(verify_signature(key.public_key(), as_bytes(message + "x"), signature));
  EXPECT_FALSE(verify_signature(key.public_key(), as_bytes(message.substr(1)), signature));
  EXPECT_FALSE(verify_signature(key.public_key(), as_bytes(message.substr(0, message.size() - 1)),
                                signature));
  for (size_t at = 0; at < signature.size(); ++at) {
    Signature changed = signature;
    changed[at] ^= 1;
    EXPECT_FALSE(verify_signature(key.public_key(), as_bytes(message), changed)) << at;
  }
  for (size_t at = 0; at < key.public_key().size(); ++at) {
    PublicKey changed = key.public_key();
    changed[at] ^= 1;
    EXPECT_FALSE(verify_signature(changed, as_bytes(message), signature)) << at;
  }
}

TEST(SigningKey, IsCreatedOnceAndPrivate) {
  Folder folder;
  fs::path file = folder.path / "keys" / "signing.key";
  auto first = SigningKey::load_or_create(file);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->public_key(), SigningKey::load_or_create(file)->public_key());
  EXPECT_EQ(fs::status(file).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_EQ(SigningKey::load(file).error().code, ErrorCode::untrusted);
}

TEST(TrustStore, HoldsTheOwnKeyAndTheTrustedOnes) {
  Folder folder;
  SigningKey own = *SigningKey::load_or_create(folder.path / "signing.key");
  SigningKey other = SigningKey::generate(), stranger = SigningKey::generate();
  ASSERT_TRUE(write_public_key(folder.path / "trusted" / (key_id(other.public_key()) + ".pub"),
                               other.public_key()));
  TrustStore store = *TrustStore::load(folder.path);
  EXPECT_TRUE(store.trusts(own.public_key()));
  EXPECT_TRUE(store.trusts(other.public_key()));
  EXPECT_FALSE(store.trusts(stranger.public_key()));
}

// One file that somebody broke must not make every engine unloadable.
TEST(TrustStore, LeavesOutADamagedKeyAndKeepsTheOthers) {
  Folder folder;
  const SigningKey other = SigningKey::generate();
  const fs::path trusted = folder.path / "trusted";
  ASSERT_TRUE(write_public_key(trusted / "b.pub", other.public_key()));
  ASSERT_TRUE(write_file(trusted / "a.pub", "not a key"));
  ASSERT_TRUE(write_file(trusted / "c.pub", ""));
  const auto store = TrustStore::load(folder.path);
  ASSERT_TRUE(store.ok()) << store.error().message;
  EXPECT_EQ(store->keys, (std::vector<PublicKey>{other.public_key()}));
}

TEST(WriteFile, ReplacesAtomicallyAndReportsAMissingFolder) {
  Folder folder;
  ASSERT_TRUE(write_file(folder.path / "a", "one"));
  ASSERT_TRUE(write_file(folder.path / "a", "two"));
  EXPECT_EQ(*read_file(folder.path / "a"), "two");
  EXPECT_EQ(write_file(folder.path / "none" / "a", "x").error().code, ErrorCode::storage);
  EXPECT_EQ(read_file(folder.path / "b").error().code, ErrorCode::not_found);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 1);
}

}  // namespace
}  // namespace enginery
