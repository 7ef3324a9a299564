// Every pass alone, and the whole list, on random graphs: outputs keep their names, types and
// values; groups are chains; the same graph always gives the same result.
#include <gtest/gtest.h>

#include "engine/graph/text.h"
#include "engine/passes/pass.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

constexpr uint64_t kGraphsOfEachPass = 60, kGraphsOfTheList = 150;

// Rewrites random graphs with `rewrite` and compares what they compute.
void expect_equal_results(uint64_t graphs, const std::function<Status(Graph&)>& rewrite) {
  for (uint64_t i = 0; i < graphs; ++i) {
    const uint64_t seed = test::test_seed() + i;
    SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed));
    const test::RandomGraph before = test::random_graph(seed);
    Graph after = before.graph;
    const Status done = rewrite(after);
    ASSERT_TRUE(done) << done.error().message << "\n" << to_text(before.graph);
    const Status sound = verify(after);
    ASSERT_TRUE(sound) << sound.error().message << "\n" << to_text(before.graph);
    ASSERT_EQ(test::difference(before, after, seed), "") << to_text(before.graph) << to_text(after);
    ASSERT_EQ(test::group_problem(after), "") << to_text(after);
    Graph again = before.graph;
    ASSERT_TRUE(rewrite(again));
    ASSERT_EQ(to_text(again), to_text(after)) << "the result is not determined by the graph";
  }
}

class EveryPass : public testing::TestWithParam<Pass> {};

TEST_P(EveryPass, KeepsTheResultsOfRandomGraphs) {
  expect_equal_results(kGraphsOfEachPass, [](Graph& graph) -> Status {
    const auto changed = GetParam().run(graph);
    return changed.ok() ? Status() : Status(changed.error());
  });
}

INSTANTIATE_TEST_SUITE_P(Passes, EveryPass, testing::ValuesIn(pass_list()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Passes, KeepTheResultsOfRandomGraphs) {
  expect_equal_results(kGraphsOfTheList, [](Graph& graph) { return run_passes(graph, {}); });
}

// Leaving a pass out must not break the others: they know nothing of each other.
TEST(Passes, KeepTheResultsOfRandomGraphsWithoutAnyOneOfThem) {
  for (const Pass& left_out : pass_list()) {
    SCOPED_TRACE("without " + std::string(left_out.name));
    expect_equal_results(10, [&](Graph& graph) {
      return run_passes(graph, {.skip = {std::string(left_out.name)}, .dump = {}, .log = {}});
    });
  }
}

}  // namespace
}  // namespace enginery
