// The list of keys: what may be allowed, revoked and exchanged, and what a damaged file is.
#include "coordinator/access/principals.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "coordinator/client/identity.h"
#include "engine/base/file.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

struct PrincipalsTest : testing::Test {
  TemporaryFolder folder;
  Principals principals{folder.path / "keys"};

  static Principal principal(const std::string& name, Roles roles) {
    return {CurveKey::generate().public_key, name, roles, "", 0, 0, {}};
  }
  Principal allowed(const std::string& name, Roles roles) {
    Principal made = principal(name, roles);
    EXPECT_TRUE(principals.allow(made).ok());
    return made;
  }
  static ErrorCode code(const Status& status) {
    return status.ok() ? ErrorCode::internal : status.error().code;
  }
};

TEST_F(PrincipalsTest, AreReadAsTheyWereWritten) {
  Principal alice = principal("alice@lab", Role::submit | Role::fetch);
  alice.tenant = "blue";
  alice.expires_s = 77;
  ASSERT_TRUE(principals.allow(alice).ok());
  const Principal host = allowed("host-2", Role::work);
  EXPECT_EQ(must(principals.all()), (std::vector<Principal>{alice, host}));
  struct stat info {};
  ASSERT_EQ(stat(principals.file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(PrincipalsTest, ANameIsOfOneKeyInForce) {
  const Principal first = allowed("alice", Role::submit);
  EXPECT_EQ(code(principals.allow(principal("alice", Role::submit))), ErrorCode::usage);
  ASSERT_TRUE(principals.revoke("alice", 5).ok());
  EXPECT_TRUE(principals.allow(principal("alice", Role::submit)).ok());
}

TEST_F(PrincipalsTest, WhatWouldBreakTheFileIsNoName) {
  for (const char* name : {"", "a b", "a\n", "-", "a/b", "\xc3\xa4"})
    EXPECT_EQ(code(principals.allow(principal(name, Role::work))), ErrorCode::usage) << name;
}

TEST_F(PrincipalsTest, ARevokedKeyStaysInTheListAndCanBeAllowedAgain) {
  Principal alice = allowed("alice", Role::submit);
  EXPECT_EQ(must(principals.revoke(alice.id().substr(0, 6), 99)).revoked_s, 99);
  EXPECT_EQ(must(principals.all()).at(0).revoked_s, 99);
  ASSERT_TRUE(principals.allow(alice).ok());
  EXPECT_EQ(must(principals.all()), std::vector{alice});
}

TEST_F(PrincipalsTest, RevokingWhatIsNotThereSaysHowToLook) {
  const auto none = principals.revoke("nobody", 1);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::not_found);
  EXPECT_NE(none.error().message.find("enginery keys list"), std::string::npos);
}

TEST_F(PrincipalsTest, ATokenIsExchangedOnceAndForItsTenant) {
  Principal token = principal("token", Role::join);
  token.tenant = "blue";
  ASSERT_TRUE(principals.allow(token).ok());
  const PublicKey mine = CurveKey::generate().public_key;
  const Principal made = must(principals.redeem(token.key, mine, "lab 2", 10));
  EXPECT_EQ(made, (Principal{mine, "lab-2", Role::work, "blue", 0, 0, {}}));
  EXPECT_EQ(must(principals.redeem(token.key, mine, "lab 2", 10)), made) << "a repetition";
  const auto other = principals.redeem(token.key, CurveKey::generate().public_key, "lab 3", 10);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::untrusted);
  EXPECT_NE(other.error().message.find("has been used, by key " + made.id()), std::string::npos);
}

TEST_F(PrincipalsTest, ATokenThatExpiredOrWasRevokedOrIsNoneIsRefused) {
  Principal old = principal("token-1", Role::join), revoked = principal("token-2", Role::join);
  old.expires_s = 10;
  revoked.revoked_s = 5;
  ASSERT_TRUE(principals.allow(old).ok());
  ASSERT_TRUE(principals.allow(revoked).ok());
  const Principal worker = allowed("w", Role::work);
  const PublicKey mine = CurveKey::generate().public_key;
  for (const auto& [key, why] :
       std::vector<std::pair<PublicKey, std::string>>{{old.key, "has expired"},
                                                      {revoked.key, "has been revoked"},
                                                      {worker.key, "is not known"},
                                                      {mine, "is not known"}}) {
    const auto made = principals.redeem(key, mine, "lab", 10);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().message.find(why), std::string::npos) << made.error().message;
  }
}

TEST_F(PrincipalsTest, TwoHostsOfOneNameGetTwo) {
  for (const char* name : {"lab", "lab-2"}) {
    const Principal token = principal("token", Role::join);
    ASSERT_TRUE(principals.allow(token).ok());
    EXPECT_EQ(must(principals.redeem(token.key, CurveKey::generate().public_key, "lab", 1)).name,
              name);
  }
}

TEST_F(PrincipalsTest, ADamagedListIsNotAnEmptyOne) {
  allowed("alice", Role::submit);
  for (const char* text : {"", "enginery-principals 2\n", "enginery-principals 1\nabc\n",
                           "enginery-principals 1\nzz alice submit - 0 0 -\n"}) {
    ASSERT_TRUE(write_file(principals.file(), text, 0600).ok());
    EXPECT_FALSE(principals.all().ok()) << text;
  }
}

TEST(IdentityFile, IsReadAsItWasWrittenAndOnlyByItsOwner) {
  const TemporaryFolder folder;
  const auto file = folder.path / "deep" / "alice.key";
  const FarmIdentity alice{"alice", CurveKey::generate(), CurveKey::generate().public_key,
                           "tcp://10.0.0.1:7701"};
  ASSERT_TRUE(write_identity(file, alice).ok());
  const FarmIdentity read = must(read_identity(file));
  EXPECT_EQ(read.own.secret, alice.own.secret);
  EXPECT_EQ(read.own.public_key, alice.own.public_key);
  EXPECT_EQ(read.coordinator, alice.coordinator);
  EXPECT_EQ(read.address, alice.address);
  EXPECT_EQ(read.name, "alice");
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  const auto open = read_identity(file);
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().code, ErrorCode::untrusted);
  EXPECT_NE(open.error().message.find("chmod 600"), std::string::npos);
  setenv("CREDENTIALS_DIRECTORY", file.parent_path().c_str(), 1);
  EXPECT_TRUE(read_identity(file).ok()) << "systemd guards its credentials itself";
  unsetenv("CREDENTIALS_DIRECTORY");
}

TEST(JoinToken, IsReadAsItWasMadeAndNotWithAnythingMissing) {
  const FarmIdentity made{"", CurveKey::generate(), CurveKey::generate().public_key,
                          "tcp://lab:7701"};
  const std::string token = join_token(made);
  EXPECT_EQ(token.find_first_of(" '\"$&;|"), std::string::npos) << "one word of a shell";
  const FarmIdentity read = must(parse_join_token(token));
  EXPECT_EQ(read.own.secret, made.own.secret);
  EXPECT_EQ(read.coordinator, made.coordinator);
  EXPECT_EQ(read.address, made.address);
  for (size_t cut = 0; cut < token.size(); cut += 7)
    EXPECT_FALSE(parse_join_token(token.substr(0, cut)).ok()) << cut;
  for (size_t at = 0; at < token.size(); at += 5) {
    std::string other = token;
    other[at] = other[at] == '0' ? '1' : '0';
    EXPECT_FALSE(parse_join_token(other).ok()) << at;
  }
}

}  // namespace
}  // namespace enginery
