// A hash on a thread of its own is the same hash.
#include "engine/base/side_hash.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(SideHash, IsTheHashOfAllPiecesInTheirOrder) {
  for (const int pieces : {0, 1, 7, 100}) {
    SideHash hash;
    Bytes all;
    for (int i = 0; i < pieces; ++i) {
      Bytes piece(static_cast<size_t>(i) * 1000, static_cast<char>(i));
      all += piece;
      hash.update(std::move(piece));
    }
    EXPECT_EQ(hash.finish(), sha256(all)) << pieces;
  }
}

TEST(SideHash, MayBeGivenUp) {
  SideHash hash;
  for (int i = 0; i < 20; ++i) hash.update(Bytes(100'000, 'x'));
}

}  // namespace
}  // namespace enginery
