#include "engine/base/digest.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace enginery {
namespace {

TEST(Sha256, MatchesTheStandardsLongExamples) {  // FIPS 180-4, two blocks and a million letters
  EXPECT_EQ(sha256("").hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, GivesTheSameInPieces) {
  const std::string text = "what streams past in pieces of any size";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    Sha256 hash;
    for (size_t at = 0; at < text.size(); at += piece)
      hash.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
}

TEST(Hex, ReadsWhatItWrites) {
  Bytes all;
  for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
  EXPECT_EQ(*from_hex(to_hex(as_bytes(all))), all);
  EXPECT_EQ(to_hex(as_bytes(std::string_view("\x00\xff\x1a", 3))), "00ff1a");
  EXPECT_EQ(*from_hex("00FF1a"), std::string_view("\x00\xff\x1a", 3)) << "either case is read";
  EXPECT_EQ(from_hex("0").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(from_hex("0g").error().code, ErrorCode::invalid_argument);
}

TEST(Digest, KeysContainersInOrder) {
  const Digest a = sha256("a"), b = sha256("b");
  EXPECT_EQ(a < b, a.hex() < b.hex());
  EXPECT_EQ((std::unordered_set<Digest>{a, b, a}).size(), 2u);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace enginery
