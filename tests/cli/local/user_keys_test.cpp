#include "cli/local/user_keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

PublicKey other_key() {
  return SigningKey::generate().public_key();
}

TEST(UserKeys, AreNoneAtFirstAndTheOwnOneOnceItIsMade) {
  const TemporaryHome home;
  EXPECT_TRUE(known_keys()->empty());
  EXPECT_TRUE(load_trust()->keys.empty());
  const auto own = make_own_key(ExistingKey::keep);
  ASSERT_TRUE(own.ok()) << own.error().message;
  const auto keys = known_keys();
  ASSERT_TRUE(keys.ok());
  ASSERT_EQ(keys->size(), 1u);
  EXPECT_EQ(keys->front().role, KeyRole::own);
  EXPECT_EQ(keys->front().id(), own->id());
  EXPECT_TRUE(load_trust()->trusts(own->key));
}

TEST(UserKeys, AKeyIsReplacedOnlyWhenAskedAndStaysTrusted) {
  const TemporaryHome home;
  const auto old = make_own_key(ExistingKey::keep);
  ASSERT_TRUE(old.ok());
  const auto refused = make_own_key(ExistingKey::keep);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_NE(refused.error().message.find(old->id()), std::string::npos);
  const auto fresh = make_own_key(ExistingKey::retire);
  ASSERT_TRUE(fresh.ok());
  EXPECT_NE(fresh->id(), old->id());
  const auto keys = known_keys();
  ASSERT_EQ(keys->size(), 2u);
  EXPECT_EQ((*keys)[0].id(), fresh->id());
  EXPECT_EQ((*keys)[1].id(), old->id());
  EXPECT_EQ((*keys)[1].role, KeyRole::trusted);
  EXPECT_TRUE(load_trust()->trusts(old->key));
}

TEST(UserKeys, ATrustedKeyIsRemovedByTheBeginningOfItsId) {
  const TemporaryHome home;
  const auto trusted = trust_key(other_key());
  ASSERT_TRUE(trusted.ok());
  EXPECT_TRUE(load_trust()->trusts(trusted->key));
  EXPECT_EQ(untrust_key(trusted->id().substr(0, 3)).error().code, ErrorCode::not_found);
  const auto removed = untrust_key(trusted->id().substr(0, 4));
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(removed->id(), trusted->id());
  EXPECT_FALSE(load_trust()->trusts(trusted->key));
}

TEST(UserKeys, TheOwnKeyIsNotUntrusted) {
  const TemporaryHome home;
  const auto own = make_own_key(ExistingKey::keep);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(untrust_key(own->id()).error().code, ErrorCode::not_found);
  EXPECT_TRUE(load_trust()->trusts(own->key));
}

TEST(UserKeys, ASigningKeyThatOthersCanReadIsAnErrorEverywhere) {
  const TemporaryHome home;
  ASSERT_TRUE(make_own_key(ExistingKey::keep).ok());
  chmod(signing_key_file().c_str(), 0644);
  EXPECT_FALSE(known_keys().ok());
  EXPECT_FALSE(make_own_key(ExistingKey::retire).ok());
}

TEST(ParsePublicKey, TakesAFileOrItsDigits) {
  const TemporaryHome home;
  const auto trusted = trust_key(other_key());
  ASSERT_TRUE(trusted.ok());
  EXPECT_EQ(*parse_public_key(trusted->file.string()), trusted->key);
  EXPECT_EQ(*parse_public_key(trusted->hex()), trusted->key);
  EXPECT_EQ(parse_public_key(trusted->hex().substr(2)).error().code, ErrorCode::not_found);
  EXPECT_EQ(parse_public_key("no.pub").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace enginery
