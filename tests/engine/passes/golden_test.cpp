// What each pass makes of a few small graphs, and what the whole list makes of them, as committed
// text: golden/NAME.graph is the graph, golden/NAME.passes the result.
//
// After an intended change: ENGINERY_UPDATE_GOLDEN=1 build/dev/tests/engine/passes/passes_test
// --gtest_filter='*Golden*', then read `git diff`.
#include <gtest/gtest.h>

#include "engine/graph/text.h"
#include "engine/passes/pass.h"
#include "tests/support/golden.h"

namespace enginery {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(ENGINERY_SOURCE_DIR) / "tests/engine/passes/golden";

std::string section(const std::string& title, const Graph& graph, const std::string& before) {
  const std::string text = to_text(graph);
  return "== " + title + "\n" + (text == before ? "(as it was)\n" : text);
}

// Both digests name engines and timings in catalogs that exist: they must never change unnoticed.
std::string digests(const Graph& graph) {
  return "structure " + structure_fingerprint(graph).text() + "\nall       " +
         fingerprint(graph).text() + "\n";
}

class GoldenPasses : public testing::TestWithParam<const char*> {};

TEST_P(GoldenPasses, GiveTheCommittedText) {
  const std::string name = GetParam();
  const auto imported = parse_graph(test::text_of_file(kFolder / (name + ".graph")));
  ASSERT_TRUE(imported) << imported.error().message;
  const std::string before = to_text(*imported);
  std::string text = "# " + name + ".graph after each pass alone, then after the whole list.\n" +
                     digests(*imported);
  for (const Pass& pass : pass_list()) {
    Graph graph = *imported;
    const auto changed = pass.run(graph);
    ASSERT_TRUE(changed) << changed.error().message;
    const std::string count = std::to_string(*changed);
    text += section(std::string(pass.name) + ": " + count + " changed", graph, before);
  }
  Graph graph = *imported;
  ASSERT_TRUE(run_passes(graph, {}));
  text += section("the whole list", graph, before) + digests(graph);
  test::expect_golden(kFolder / (name + ".passes"), text);
}

INSTANTIATE_TEST_SUITE_P(Graphs, GoldenPasses,
                         testing::Values("activations", "matrix", "pictures", "residual_block",
                                         "shapes", "twins"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace enginery
