// Running a graph with the references: inputs by name, constants and outputs of every sort, errors
// with the node's name.
#include "engine/graph/run_graph.h"

#include "tests/engine/graph/graph_support.h"

namespace enginery {
namespace {

TEST(RunGraph, ComputesAndNamesTheFailingInput) {
  Graph g = parse("graph g { input %x : float32[2]\n %a = act(%x) kind=relu\n output %a }");
  auto out = run_graph(g, {{"x", Tensor::of<float>({2}, {-1, 2})}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at("a").data<float>()[0], 0);
  EXPECT_EQ(out->at("a").data<float>()[1], 2);
  EXPECT_FALSE(run_graph(g, {}));
}

TEST(RunGraph, GivesOutputsThatAreInputsConstantsOrReadAgain) {
  const Graph g = parse(R"(graph g {
    input %x : float32[2]
    %c = constant float32[2] {5, 6}
    %a = act(%x) kind=relu
    %b = binary(%a, %c) kind=add
    output %x
    output %c
    output %a
    output %b })");
  const auto out = run_graph(g, {{"x", Tensor::of<float>({2}, {-1, 2})}});
  ASSERT_TRUE(out.ok());
  const auto value = [&](const char* name) { return out->at(name).data<float>()[1]; };
  EXPECT_EQ(value("x"), 2);
  EXPECT_EQ(value("c"), 6);
  EXPECT_EQ(value("a"), 2);  // an output stays after its last reader
  EXPECT_EQ(value("b"), 8);
}

TEST(RunGraph, RunsNothingThatNoOutputNeeds) {
  const Graph g = parse(R"(graph g {
    input %x : float32[2]
    %dead = act(%x) kind=tanh
    %y = act(%x) kind=relu
    output %y })");
  std::vector<ValueId> made;
  ASSERT_TRUE(run_graph(g, {{"x", Tensor::of<float>({2}, {-1, 2})}}, [&](ValueId v, const Tensor&) {
                made.push_back(v);
              }).ok());
  EXPECT_EQ(made, g.outputs());
}

TEST(RunGraph, TakesRunTimeSizesFromTheInputs) {
  const Graph g = parse("graph g { input %x : float32[N]\n %y = act(%x) kind=relu\n output %y }");
  for (const int64_t n : {0, 1, 5}) {
    const auto out = run_graph(g, {{"x", Tensor(DataType::float32, {n})}});
    ASSERT_TRUE(out.ok());
    EXPECT_EQ(out->at("y").dims(), Dims{n});
  }
}

TEST(RunGraph, NamesTheNodeWhoseDataIsRefused) {
  const Graph g = parse(R"(graph g {
    input %x : int64[1]
    input %by : int64[1]
    %q = binary(%x, %by) kind=div
    output %q })");
  const auto out =
      run_graph(g, {{"x", Tensor::of<int64_t>({1}, {1})}, {"by", Tensor::of<int64_t>({1}, {0})}});
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.error().message, "node 'q' (binary): binary: an integer is divided by zero");
}

TEST(RunGraph, NamesTheInputThatIsMissing) {
  EXPECT_EQ(run_graph(parse(kChain), {}).error().message, "no value for input 'x'");
}

}  // namespace
}  // namespace enginery
