#include "engine/passes/split_einsum.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

struct EinsumCase {
  std::string equation;
  Dims a, b;
  int transposes, reshapes;
};

// By hand: the graph's text knows no commas within an attribute.
Graph einsum_of(const EinsumCase& c) {
  Graph g;
  const ValueId a = g.add_input("a", {DataType::float32, c.a}),
                b = g.add_input("b", {DataType::float32, c.b});
  const auto y = g.add_node("y", Einsum{c.equation}, {a, b});
  EXPECT_TRUE(y.ok() && g.mark_output((*y)[0]).ok()) << c.equation;
  return g;
}

TEST(SplitEinsum, MakesProductsOfWhatIsOne) {
  for (const EinsumCase& c : std::vector<EinsumCase>{
           {"ij,jk->ik", {3, 4}, {4, 5}, 0, 0},
           {"bij,bjk->bik", {2, 3, 4}, {2, 4, 5}, 0, 0},
           // Attention's scores and what is mixed by them; the same before heads are moved.
           {"bhid,bhjd->bhij", {2, 3, 4, 5}, {2, 3, 6, 5}, 1, 0},
           {"bhij,bhjd->bhid", {2, 3, 4, 6}, {2, 3, 6, 5}, 0, 0},
           {"bihd,bjhd->bhij", {2, 4, 3, 5}, {2, 6, 3, 5}, 2, 0},
           {"bhij,bjhd->bihd", {2, 3, 4, 6}, {2, 6, 3, 5}, 2, 0},
           {"abcd,cde->abe", {2, 3, 4, 5}, {4, 5, 6}, 0, 3},  // a linear layer over two dimensions
           {"ij,kj->ki", {3, 4}, {5, 4}, 2, 0},
           {"i,i->", {4}, {4}, 0, 3},
           // Dots for what both have, for nothing, and for what one alone has.
           {"...ij,...jk->...ik", {2, 3, 4}, {2, 4, 5}, 0, 0},
           {"...qhd,...khd->...hqk", {2, 7, 4, 3, 5}, {2, 7, 6, 3, 5}, 2, 0},
           {"...hqk,...khd->...qhd", {2, 7, 3, 4, 6}, {2, 7, 6, 3, 5}, 2, 0},
           {"...ij,...jk->...ik", {3, 4}, {4, 5}, 0, 0},
           {"...ij,jk->...ik", {2, 7, 3, 4}, {4, 5}, 0, 2},
           {"...ij,...jk->...ik", {3, 4}, {2, 4, 5}, 2, 2},
           {"A...j,jB->A...B", {2, 7, 4}, {4, 5}, 0, 2},
       }) {
    SCOPED_TRACE(c.equation);
    Graph g = einsum_of(c);
    EXPECT_EQ(run(split_einsum, g), 1);
    EXPECT_EQ(count<Einsum>(g), 0);
    EXPECT_EQ(count<MatMul>(g), 1);
    EXPECT_EQ(count<Transpose>(g), c.transposes);
    EXPECT_EQ(count<Reshape>(g), c.reshapes);
  }
}

TEST(SplitEinsum, SumsAndTransposesASingleOperand) {
  struct Case {
    std::string equation;
    Dims x;
    int sums, transposes;
  };
  for (const Case& c : std::vector<Case>{{"ijbn->bnij", {4, 5, 2, 3}, 0, 1},  // XLNet's positions
                                         {"ijk->ij", {2, 3, 4}, 1, 0},
                                         {"ijk->ki", {2, 3, 4}, 1, 1},
                                         {"ij->", {2, 3}, 1, 0},
                                         {"...ij->...ji", {2, 7, 3, 4}, 0, 1},
                                         {"i...->...", {2, 3, 4}, 1, 0}}) {
    SCOPED_TRACE(c.equation);
    Graph g;
    const ValueId x = g.add_input("x", {DataType::float32, c.x});
    const auto y = g.add_node("y", Einsum{c.equation}, {x});
    ASSERT_TRUE(y.ok() && g.mark_output((*y)[0]).ok());
    EXPECT_EQ(run(split_einsum, g), 1);
    EXPECT_EQ(count<Einsum>(g), 0);
    EXPECT_EQ(count<Reduce>(g), c.sums);
    EXPECT_EQ(count<Transpose>(g), c.transposes);
  }
}

TEST(SplitEinsum, LeavesDiagonalsOfASingleOperand) {
  Graph g;
  const ValueId x = g.add_input("x", {DataType::float32, {3, 3}});
  const auto y = g.add_node("y", Einsum{"ii->i"}, {x});
  ASSERT_TRUE(y.ok() && g.mark_output((*y)[0]).ok());
  EXPECT_EQ(run(split_einsum, g), 0);
}

// What is left to the run is the product alone, with a constant that sources can pack.
TEST(SplitEinsum, MovesWeightsAtBuildTime) {
  Graph g;
  const ValueId x = g.add_input("x", {DataType::float32, {2, 3, 4}});
  Tensor numbers(DataType::float32, {5, 6, 4});
  std::iota(numbers.mutable_data<float>().begin(), numbers.mutable_data<float>().end(), -7.0f);
  const ValueId w = g.add_constant("w", std::move(numbers));
  const auto y = g.add_node("y", Einsum{"abc,dec->abde"}, {x, w});
  ASSERT_TRUE(y.ok() && g.mark_output((*y)[0]).ok());
  EXPECT_EQ(run(split_einsum, g), 1);
  EXPECT_EQ(count<Transpose>(g), 0);
  for (const NodeId id : g.topological_order()) {
    const Node& node = g.node(id);
    if (!std::holds_alternative<MatMul>(node.op)) continue;
    const Tensor* weights = g.constant(node.inputs[1]);
    ASSERT_NE(weights, nullptr);
    EXPECT_EQ(weights->dims(), (Dims{4, 30}));
  }
}

TEST(SplitEinsum, LeavesOtherSums) {
  for (const EinsumCase& c : std::vector<EinsumCase>{
           {"ij,ij->ij", {3, 4}, {3, 4}, 0, 0},  // nothing is summed
           {"ij,jk->k", {3, 4}, {4, 5}, 0, 0},   // a letter of one operand alone
           {"ij,jkl->ik", {3, 4}, {4, 5, 6}, 0, 0},
           {"ii,ij->j", {3, 3}, {3, 4}, 0, 0},                  // a diagonal
           {"...ij,...jk->...ik", {1, 3, 4}, {2, 4, 5}, 0, 0},  // one operand is repeated
           {"...ij,jk->ik", {2, 3, 4}, {4, 5}, 0, 0},           // the dots are summed over
           {"ij,jk", {3, 4}, {4, 5}, 0, 0},
       }) {
    Graph g = einsum_of(c);
    EXPECT_EQ(run(split_einsum, g), 0) << c.equation;
  }
}

}  // namespace
}  // namespace enginery
