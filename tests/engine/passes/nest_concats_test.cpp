#include "engine/passes/nest_concats.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

const std::string kInputs =
    "input %x : float32[1x4x3x3]\n input %y : float32[1x4x3x3]\n input %z : float32[1x4x3x3]\n";

std::vector<std::string> parts_of(const Graph& graph, const std::string& name) {
  std::vector<std::string> out;
  for (const ValueId v : node_named(graph, name).inputs) out.push_back(graph.value(v).name);
  return out;
}
using Names = std::vector<std::string>;

TEST(NestConcats, ReadTheEarlierWhole) {
  Graph g = parse(kInputs +
                  "%a = concat(%x, %y)\n %b = concat(%x, %y, %z) axis=-3\n"
                  "%c = concat(%x, %y, %z, %x)\n output %a\n output %b\n output %c");
  EXPECT_EQ(run(nest_concats, g), 2);
  EXPECT_EQ(parts_of(g, "a"), (Names{"x", "y"}));
  EXPECT_EQ(parts_of(g, "b"), (Names{"a", "z"}));
  EXPECT_EQ(parts_of(g, "c"), (Names{"b", "x"}));
}

TEST(NestConcats, FindAWholeBehindOtherParts) {
  Graph g = parse(kInputs +
                  "%a = concat(%x, %y)\n %b = concat(%z, %x, %y, %x, %y)\n output %a\n output %b");
  EXPECT_EQ(run(nest_concats, g), 1);
  EXPECT_EQ(parts_of(g, "b"), (Names{"z", "a", "a"}));
}

TEST(NestConcats, ReadWhatASplitCut) {
  Graph g = parse(kInputs +
                  "%r = act(%x) kind=relu\n %p, %q = split(%r) axis=1 sizes=[1,3]\n"
                  "%t = act(%q) kind=tanh\n %u = split(%t) axis=1 sizes=[3]\n"
                  "%a = concat(%p, %q, %u)\n output %a");
  EXPECT_EQ(run(nest_concats, g), 1);
  EXPECT_EQ(parts_of(g, "a"), (Names{"r", "t"}));
}

TEST(NestConcats, AreGoneWhereTheyRepeatAWhole) {
  Graph g = parse(kInputs +
                  "%p, %q = split(%x) axis=1 sizes=[1,3]\n %a = concat(%p, %q)\n"
                  "%r = act(%a) kind=relu\n output %r");
  EXPECT_EQ(run(nest_concats, g), 1);
  EXPECT_EQ(count<Concat>(g), 0);
  EXPECT_EQ(parts_of(g, "r"), (Names{"x"}));
}

TEST(NestConcats, KeepAnotherAxisOrderOrPartOfAWhole) {
  for (const char* rest :
       {"%a = concat(%x, %y) axis=2\n %b = concat(%x, %y, %z) axis=1\n output %a\n output %b",
        "%a = concat(%x, %y)\n %b = concat(%y, %x, %z)\n output %a\n output %b",
        "%a = concat(%x, %y, %z)\n %b = concat(%x, %y)\n output %a\n output %b",
        "%p, %q = split(%x) axis=1 sizes=[1,3]\n %a = concat(%q, %p)\n output %a",
        "%p, %q = split(%x) axis=2 sizes=[1,2]\n %a = concat(%p, %p)\n output %a"}) {
    Graph g = parse(kInputs + rest);
    EXPECT_EQ(run(nest_concats, g), 0) << rest;
  }
}

TEST(NestConcats, KeepAnOutputOfTheGraphUnderItsName) {
  Graph g =
      parse(kInputs + "%p, %q = split(%x) axis=1 sizes=[1,3]\n %a = concat(%p, %q)\n output %a");
  EXPECT_EQ(run(nest_concats, g), 1);
  EXPECT_EQ(parts_of(g, "a"), (Names{"x"}));
}

TEST(NestConcats, AreFoundInRandomGraphs) {
  int nested = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Graph g = test::random_graph(seed).graph;
    const auto changed = nest_concats(g);
    ASSERT_TRUE(changed) << changed.error().message;
    nested += *changed;
  }
  EXPECT_GT(nested, 10);
}

}  // namespace
}  // namespace enginery
