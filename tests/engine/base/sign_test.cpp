#include "engine/base/sign.h"

#include <gtest/gtest.h>

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
