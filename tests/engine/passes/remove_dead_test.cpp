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

}  // namespace
}  // namespace enginery
