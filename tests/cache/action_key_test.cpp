#include "cache/action_key.h"

#include <random>

#include "tests/cache/support.h"

namespace enginery {
namespace {

ActionKey sample() {
  ActionKey key("assemble", "local");
  key.add("model", sha256("m")).add("sku", "cpu-avx2").add("threads", 2).add("empty", "");
  key.add("binary", std::string_view("\0\xff\n", 3));
  return key;
}

TEST(ActionKey, HasTheBytesOfTheGrammar) {
  ActionKey key("k", "t");
  key.add("n", "v");
  std::string expected("EKEY\x01\x03\0\0\0", 9);
  expected += std::string("\x04\0kind\x01\0\0\0k", 11);
  expected += std::string("\x0c\0trust_domain\x01\0\0\0t", 19);
  expected += std::string("\x01\0n\x01\0\0\0v", 8);
  EXPECT_EQ(to_hex(as_bytes(key.bytes())), to_hex(as_bytes(expected)));
}

TEST(ActionKey, ComesBackFromItsBytes) {
  ActionKey key = sample();
  ActionKey back = VALUE(ActionKey::parse(key.bytes()));
  EXPECT_EQ(back, key);
  EXPECT_EQ(back.digest(), key.digest());
  EXPECT_EQ(back.kind(), "assemble");
  EXPECT_EQ(back.trust_domain(), "local");
  EXPECT_EQ(*back.find("threads"), "2");
  EXPECT_EQ(back.find("absent"), nullptr);
}

TEST(ActionKey, IsAnotherKeyInAnotherTrustDomain) {
  EXPECT_NE(ActionKey("tune", "a").digest(), ActionKey("tune", "b").digest());
}

TEST(ActionKey, KeepsFieldsApartThatConcatenateAlike) {
  ActionKey a("k", "t"), b("k", "t");
  a.add("x", "ab").add("y", "c");
  b.add("x", "a").add("y", "bc");
  EXPECT_NE(a.digest(), b.digest());
}

TEST(ActionKey, RefusesEveryTruncationAndExtension) {
  Bytes bytes = sample().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_ERROR(ErrorCode::corrupt_data, ActionKey::parse(bytes.substr(0, size)));
  }
  EXPECT_ERROR(ErrorCode::corrupt_data, ActionKey::parse(bytes + '\0'));
}

// What parses, has exactly these bytes: two byte strings never stand for one key.
TEST(ActionKey, ParsesHostileBytesToNothingOrToThemselves) {
  constexpr uint64_t kSeed = 20260;
  std::mt19937_64 random(kSeed);
  const Bytes good = sample().bytes();
  int parsed = 0;
  for (int i = 0; i < 20000; ++i) {
    Bytes bytes = good;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 4 == 0) bytes.resize(random() % (bytes.size() + 1));
    Result<ActionKey> key = ActionKey::parse(bytes);
    if (!key.ok()) continue;
    ++parsed;
    ASSERT_EQ(key->bytes(), bytes) << "seed " << kSeed << " round " << i;
  }
  EXPECT_GT(parsed, 0);
}

TEST(ActionKey, RefusesADuplicateFieldAndAMissingKind) {
  ActionKey key("k", "t");
  key.add("aa", "1").add("ab", "2");
  Bytes bytes = key.bytes();
  bytes[bytes.rfind("ab") + 1] = 'a';
  EXPECT_ERROR(ErrorCode::corrupt_data, ActionKey::parse(bytes));
  Bytes other = key.bytes();
  other[other.find("kind")] = 'm';
  EXPECT_ERROR(ErrorCode::corrupt_data, ActionKey::parse(other));
}

TEST(ActionKey, RefusesAHugeCountWithoutAllocatingIt) {
  Bytes bytes("EKEY\x01\xff\xff\xff\xff", 9);
  EXPECT_ERROR(ErrorCode::corrupt_data, ActionKey::parse(bytes));
}

TEST(ActionKeyDeathTest, AbortsOnABrokenPromise) {
  EXPECT_DEATH(ActionKey("k", "t").add("kind", "again"), "given twice");
  EXPECT_DEATH(ActionKey("k", "t").add("Upper", ""), "bad field name");
}

TEST(Difference, NamesWhatDiffersOnEitherSide) {
  ActionKey wanted("k", "t"), had("k", "t");
  wanted.add("same", "1").add("changed", "new").add("only_wanted", "w");
  had.add("same", "1").add("changed", "old").add("only_had", "h");
  std::vector<KeyDifference> differs = difference(wanted, had);
  ASSERT_EQ(differs.size(), 3u);
  EXPECT_EQ(differs[0].field, "changed");
  EXPECT_EQ(differs[0].wanted, "new");
  EXPECT_EQ(differs[0].had, "old");
  EXPECT_EQ(differs[1].field, "only_wanted");
  EXPECT_FALSE(differs[1].had);
  EXPECT_EQ(differs[2].field, "only_had");
  EXPECT_FALSE(differs[2].wanted);
  EXPECT_TRUE(difference(wanted, wanted).empty());
}

}  // namespace
}  // namespace enginery
