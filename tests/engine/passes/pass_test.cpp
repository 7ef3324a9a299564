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
  const Status mistyped = run_passes(g, {.skip = {"remove_no_op"}, .dump = {}, .log = {}});
  EXPECT_NE(mistyped.error().message.find("did you mean remove_no_ops? (there is: "),
            std::string::npos)
      << mistyped.error().message;
  EXPECT_EQ(run_passes(g, {.skip = {"nope"}, .dump = {}, .log = {}}).error().code,
            ErrorCode::usage);
}

TEST(Passes, LogCountsOfLayersBeforeAndAfterEach) {
  Graph g = parse("input %x : float32[2]\n %a = act(%x) kind=relu\n %b = identity(%a)\n" +
                  std::string("%y = act(%b) kind=tanh\n output %y"));
  std::string log;
  PassOptions options;
  options.log = [&](const std::string& line) { log += line + "\n"; };
  ASSERT_TRUE(run_passes(g, options));
  EXPECT_NE(log.find("after remove_no_ops: 2 layers, 3 before (1 changed, "), std::string::npos)
      << log;
  EXPECT_NE(log.find("after fuse_vertical: 1 layers, 2 before (1 changed, "), std::string::npos)
      << log;
}

const Pass kBreaks{"breaks", [](Graph& graph) -> Result<int> {
                     graph.value(graph.outputs()[0]).type.dims = {99};
                     return 1;
                   }};
const Pass kFails{"fails", [](Graph&) -> Result<int> {
                    return Error{ErrorCode::unsupported, "no reason"};
                  }};

constexpr char kRelu[] = "input %x : float32[2]\n %y = act(%x) kind=relu\n output %y";

TEST(Passes, NameThePassThatBreaksTheGraph) {
  Graph g = parse(kRelu);
  const Status status = run_passes(g, {.skip = {}, .dump = {}, .log = {}, .list = {&kBreaks, 1}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::internal);
  EXPECT_TRUE(status.error().message.starts_with("pass breaks broke the graph: "))
      << status.error().message;
}

TEST(Passes, PassAnErrorOnWithTheirName) {
  Graph g = parse(kRelu);
  const Status status = run_passes(g, {.skip = {}, .dump = {}, .log = {}, .list = {&kFails, 1}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
  EXPECT_EQ(status.error().message, "pass fails: no reason");
}

TEST(Passes, DumpTheGraphAfterEachInTheirOrder) {
  Graph g = parse(kRelu);
  std::vector<std::string> dumped, listed;
  PassOptions options;
  options.dump = [&](std::string_view pass, const Graph&) { dumped.emplace_back(pass); };
  ASSERT_TRUE(run_passes(g, options).ok());
  for (const Pass& pass : pass_list()) listed.emplace_back(pass.name);
  EXPECT_EQ(dumped, listed);
}

TEST(LayerCount, CountsAGroupOnceAndErasedNodesNever) {
  Graph g = convolution_then("%r = act(%c) kind=relu group=0\n %t = act(%r) kind=tanh\n output %t");
  EXPECT_EQ(layer_count(g), 3);
  g.node(0).group = 0;
  EXPECT_EQ(layer_count(g), 2);
  g.replace_uses(g.node(2).outputs[0], g.node(1).outputs[0]);
  g.erase_node(2);
  EXPECT_EQ(layer_count(g), 1);
}

}  // namespace
}  // namespace enginery
