#include "engine/passes/split_einsum.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

struct EinsumCase {
  std::string equation, a, b;
  int transposes, reshapes;
};

Graph einsum_of(const EinsumCase& c) {
  return parse("input %a : float32[" + c.a + "]\n input %b : float32[" + c.b +
               "]\n %y = einsum(%a, %b) equation=" + c.equation + "\n output %y");
}

TEST(SplitEinsum, MakesProductsOfWhatIsOne) {
  for (const EinsumCase& c : std::vector<EinsumCase>{
           {"ij,jk->ik", "3x4", "4x5", 0, 0},
           {"bij,bjk->bik", "2x3x4", "2x4x5", 0, 0},
           {"bhid,bhjd->bhij", "2x3x4x5", "2x3x6x5", 1, 0},  // attention's scores
           {"bhij,bhjd->bhid", "2x3x4x6", "2x3x6x5", 0, 0},  // and what is mixed by them
           {"bihd,bjhd->bhij", "2x4x3x5", "2x6x3x5", 2, 0},  // the same before heads are moved
           {"bhij,bjhd->bihd", "2x3x4x6", "2x6x3x5", 2, 0},
           {"abcd,cde->abe", "2x3x4x5", "4x5x6", 0, 3},  // a linear layer over two dimensions
           {"ij,kj->ki", "3x4", "5x4", 2, 0},
           {"i,i->", "4", "4", 0, 3},
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

TEST(SplitEinsum, LeavesOtherSums) {
  for (const EinsumCase& c : std::vector<EinsumCase>{
           {"ij,ij->ij", "3x4", "3x4", 0, 0},  // nothing is summed
           {"ij,jk->k", "3x4", "4x5", 0, 0},   // a letter of one operand alone
           {"ij,jkl->ik", "3x4", "4x5x6", 0, 0},
           {"ii,ij->j", "3x3", "3x4", 0, 0},  // a diagonal
           {"...ij,...jk->...ik", "2x3x4", "2x4x5", 0, 0},
           {"ij,jk", "3x4", "4x5", 0, 0},
       }) {
    Graph g = einsum_of(c);
    EXPECT_EQ(run(split_einsum, g), 0) << c.equation;
  }
}

}  // namespace
}  // namespace enginery
