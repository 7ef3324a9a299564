// The graph's checker: each promise that a graph makes, broken by hand.
#include "tests/engine/graph/graph_support.h"

namespace enginery {
namespace {

TEST(Verify, FindsACycle) {
  Graph g = parse(
      "graph g { input %x : float32[2]\n %a = act(%x) kind=relu\n %b = act(%a) kind=relu\n output "
      "%b }");
  g.node(0).inputs[0] = g.node(1).outputs[0];
  auto status = verify(g);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cycle"), std::string::npos);
}

TEST(Verify, FindsATypeThatItsRuleDoesNotGive) {
  Graph g = parse(kSmall);
  g.value(g.node(0).outputs[0]).type.dims[1] = 5;
  auto status = verify(g);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("'c'"), std::string::npos) << status.error().message;
}

std::string problem(const Graph& g) {
  const Status status = verify(g);
  return status.ok() ? "sound" : status.error().message;
}

TEST(Verify, AcceptsWhatTheBuildersMake) {
  EXPECT_EQ(problem(parse(kSmall)), "sound");
  EXPECT_EQ(problem(parse("graph g { input %x : float32[2] output %x }")), "sound");
  EXPECT_EQ(problem(parse("graph g { %c = constant float32[1] {1} output %c }")), "sound");
}

// No index is followed before it is known to be one.
TEST(Verify, FindsValuesThatAreNotInTheTable) {
  for (const ValueId bad : {ValueId{-2}, ValueId{3}, ValueId{1000000}}) {
    Graph reads = parse(kChain), writes = parse(kChain);
    reads.node(1).inputs[0] = bad;
    EXPECT_EQ(problem(reads), "node 'b' (act): reads an unknown value");
    writes.node(0).outputs[0] = bad;
    EXPECT_EQ(problem(writes), "node 'a' (act): writes an unknown value");
  }
}

TEST(Verify, FindsAValueThatNothingProduces) {
  Graph g = parse(kChain);
  g.erase_node(0);
  EXPECT_EQ(problem(g), "node 'b' (act): reads 'a', which nothing produces");
  Graph output = parse(kChain);
  output.erase_node(1);
  EXPECT_EQ(problem(output), "output 'b' is never produced");
  Graph input = parse(kChain);
  input.erase_input(input.inputs()[0]);
  EXPECT_EQ(problem(input), "node 'a' (act): reads 'x', which nothing produces");
}

TEST(Verify, FindsAnOutputWithTwoOwners) {
  Graph g = parse(kChain);
  g.node(1).outputs = g.node(0).outputs;
  EXPECT_NE(problem(g).find("does not own its output 'a'"), std::string::npos) << problem(g);
}

TEST(Verify, FindsTheWrongNumberOfOutputs) {
  Graph split = parse(
      "graph g { input %x : float32[4]\n %a, %b = split(%x) axis=0 sizes=[1,3]\n output %a output "
      "%b }");
  std::get<Split>(split.node(0).op).sizes = {1, 1, 2};
  EXPECT_EQ(problem(split), "node 'a' (split): has the wrong number of outputs");
}

TEST(Verify, FindsAnOperatorThatRefusesItsInputs) {
  Graph g = parse(kChain);
  g.node(1).op = Softmax{.axis = 5};
  EXPECT_EQ(problem(g), "node 'b' (softmax): softmax: axis 5 is outside [-1, 1)");
}

TEST(Verify, WantsAnOutput) {
  EXPECT_EQ(problem(parse("graph g { input %x : float32[2] }")), "graph 'g' has no output");
}

TEST(Verify, SaysTheTypeThatARuleGives) {
  Graph g = parse(kChain);
  g.value(g.node(1).outputs[0]).type.type = DataType::int64;
  EXPECT_EQ(problem(g), "node 'b' (act): output 'b' is int64[2], its shape rule gives float32[2]");
}

}  // namespace
}  // namespace enginery
