#include "tuner/effort/worth_measuring.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

// Tactics with these estimates in microseconds, named by their index.
std::vector<Tactic> offered(const std::vector<double>& estimates) {
  std::vector<Tactic> out;
  for (const double us : estimates) {
    Tactic t;
    t.source = "test";
    t.id = std::to_string(out.size());
    t.trust = Trust::may_be_wrong;
    t.estimated_us = us;
    out.push_back(t);
  }
  return out;
}

std::string ids(const std::vector<Tactic>& tactics, int level) {
  std::string out;
  for (const Tactic* t : worth_measuring(tactics, level)) out += t->id;
  return out;
}

TEST(WorthMeasuring, IsAShortListUpToLevelTwo) {
  const auto five = offered({1, 1, 1, 1, 1});
  EXPECT_EQ(worth_measuring(five, 2).size(), 3u);
  EXPECT_EQ(ids(five, 1), "012");
  EXPECT_EQ(ids(five, 2), "012");
  EXPECT_EQ(ids(five, 3), "01234");
}

TEST(WorthMeasuring, LeavesOutWhatIsEightTimesSlowerByItsEstimate) {
  const auto some = offered({2, 1, 8, 8.01, 100});
  EXPECT_EQ(ids(some, 3), "012");
  EXPECT_EQ(ids(some, 4), "01234");
}

// 0: no estimate. It neither prunes others nor is pruned.
TEST(WorthMeasuring, KeepsWhatHasNoEstimate) {
  EXPECT_EQ(ids(offered({0, 5, 39, 41}), 3), "012");
}

// The likely fastest precision is searched whole, of the others the first few of each source.
TEST(WorthMeasuring, HasFewOfSlowerPrecisions) {
  auto tactics = offered({2, 3, 4, 5, 6, 7, 1, 1.5, 0, 8});
  for (const size_t i : {6u, 7u}) tactics[i].compute = Precision::fp16;
  EXPECT_EQ(ids(tactics, 3), "01678");
  EXPECT_EQ(ids(tactics, 4), "0123456789");
  for (const size_t i : {4u, 5u}) tactics[i].source = "other";
  EXPECT_EQ(ids(tactics, 3), "0145678");
  tactics[6].estimated_us = 2.5;  // float32 is the likely one now
  tactics[7].estimated_us = 3.5;
  EXPECT_EQ(ids(tactics, 3), "0123456789");
}

TEST(WorthMeasuring, HasTheReferenceOnlyWhereNothingElseIsLeft) {
  auto tactics = offered({1, 1});
  tactics[0].trust = Trust::reference;
  EXPECT_EQ(ids(tactics, 3), "1");
  tactics[1].trust = Trust::reference;
  EXPECT_EQ(ids(tactics, 3), "01");
}

}  // namespace
}  // namespace enginery
