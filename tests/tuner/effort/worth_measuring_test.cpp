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

// A precision that comes last among the offers is tried, too.
TEST(WorthMeasuring, HasOneOfASlowerPrecisionInTheShortList) {
  auto six = offered({2, 2, 2, 2, 3, 3});
  for (const size_t i : {4u, 5u}) six[i].compute = Precision::bf16;
  EXPECT_EQ(ids(six, 2), "0124");
  six[5].estimated_us = 1;  // now it is the others that are likely slower
  EXPECT_EQ(ids(six, 2), "045");
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

// Where a problem is worth little, libraries are asked for a slower precision only where our
// kernels lack it.
TEST(WorthMeasuring, HasNoLibrarysSlowerPrecisionThatOurKernelsHave) {
  auto tactics = offered({5, 6, 4, 1});
  tactics[3].compute = Precision::fp16;
  Effort little;
  little.of_slower = 1;
  const auto worthy = [&] {
    std::string out;
    for (const Tactic* t : worth_measuring(tactics, 3, little)) out += t->id;
    return out;
  };
  EXPECT_EQ(worthy(), "23");
  tactics[0].source = tactics[1].source = "kernel";
  EXPECT_EQ(worthy(), "03");
  little.of_slower = 2;
  EXPECT_EQ(worthy(), "0123");
}

NetworkNode node(double estimated_us) {
  NetworkNode out;
  out.tactics = offered({estimated_us, 100});
  return out;
}

TEST(WorthMeasuring, LeavesOutAlternativesOfOneAndAHalfTimesTheEstimate) {
  Network network;
  network.nodes = {node(1), node(3), node(50)};
  const auto worthy = [&](double first, double second, int level = 3) {
    return is_worth_measuring(network, {{0, 1}, {node(first), node(second)}}, level);
  };
  EXPECT_TRUE(worthy(2, 4));
  EXPECT_FALSE(worthy(2, 4.1));
  EXPECT_TRUE(worthy(2, 4.1, 4));
  EXPECT_TRUE(worthy(0, 40));  // not known
  network.nodes[1] = node(0);
  EXPECT_TRUE(worthy(2, 90));
}

TEST(WorthMeasuring, LeavesMergedSiblingsToLevelFour) {
  Network network;
  network.nodes = {node(3), node(3)};
  const Alternative merged{.replaces = {0, 1}, .instead = {node(1)}, .leads = true};
  EXPECT_FALSE(is_worth_measuring(network, merged, 3));
  EXPECT_TRUE(is_worth_measuring(network, merged, 4));
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
