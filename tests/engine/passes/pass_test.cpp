#include "engine/passes/pass.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

TEST(Passes, LogAndSkipByName) {
  Graph g = parse("input %x : float32[2]\n %a = identity(%x)\n %y = act(%a) kind=relu\n output %y");
  std::vector<std::string> lines;
  PassOptions options;
  options.skip = {"remove_no_ops"};
  options.log = [&](const std::string& line) { lines.push_back(line); };
  ASSERT_TRUE(run_passes(g, options));
  EXPECT_EQ(lines.size(), pass_list().size() - 1);
  EXPECT_EQ(g.live_node_count(), 2);
  EXPECT_EQ(run_passes(g, {.skip = {"nope"}, .dump = {}, .log = {}}).error().code,
            ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
