#include "engine/passes/remove_dead.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(RemoveDead, RemovesWhatNothingNeeds) {
  Graph g = parse(
      "input %x : float32[2]\n %y = act(%x) kind=relu\n %a = act(%x) kind=tanh\n %b = act(%a) "
      "kind=tanh\n output %y");
  EXPECT_EQ(run(remove_dead, g), 2);
}

TEST(RemoveDead, KeepsANodeOfWhichOneOutputIsNeeded) {
  Graph g = parse(
      "input %x : float32[4]\n %a, %b = split(%x) axis=0 sizes=[1,3]\n %d = act(%a) kind=relu\n "
      "output %b");
  EXPECT_EQ(run(remove_dead, g), 1);
  EXPECT_EQ(count<Split>(g), 1);
}

TEST(RemoveDead, KeepsInputsThatNothingReads) {
  Graph g = parse(
      "input %x : float32[2]\n input %unused : float32[2]\n %y = act(%x) kind=relu\n output %y");
  EXPECT_EQ(run(remove_dead, g), 0);
  EXPECT_EQ(g.inputs().size(), 2u);
}

}  // namespace
}  // namespace enginery
