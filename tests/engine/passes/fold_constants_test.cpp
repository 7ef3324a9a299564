#include "engine/passes/fold_constants.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(FoldConstants, ComputesShapesAndChainsOfConstants) {
  Graph g = parse(R"(input %x : float32[2x3x4]
    %s = shape(%x)
    %i = constant int64[1] {0}
    %n = gather(%s, %i) axis=0
    %m = constant int64[1] {-1}
    %t = concat(%n, %m) axis=0
    %y = reshape(%x, %t)
    output %y)");
  EXPECT_EQ(run(fold_constants, g), 3);
  EXPECT_EQ(g.live_node_count(), 1);
}

TEST(FoldConstants, LeavesWhatDependsOnAnInput) {
  Graph g = parse("input %x : float32[2]\n %y = act(%x) kind=relu\n output %y");
  EXPECT_EQ(run(fold_constants, g), 0);
}

TEST(FoldConstants, KeepsAnOutputThatBecomesConstant) {
  Graph g = parse(
      "input %x : float32[2]\n %c = constant float32[2] {1, -2}\n %y = act(%c) kind=relu\n %z = "
      "act(%x) kind=relu\n output %y\n output %z");
  EXPECT_EQ(run(fold_constants, g), 1);
  EXPECT_TRUE(g.constant(g.outputs()[0]));
}

}  // namespace
}  // namespace enginery
