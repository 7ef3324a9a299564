#include "engine/passes/lift_gemm.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

struct LiftCase {
  std::string gemm = "%g = gemm(%f, %w, %b)", back = "reshape(%g, %whole)",
              flat = "reshape(%x, %rows)";
};

Graph flattened(const LiftCase& c) {
  return parse(
      "input %x : float32[2x3x4]\n %w = constant float32[4x5] random(1)\n"
      "%v = constant float32[5x4] random(2)\n %b = constant float32[5] random(3)\n"
      "%e = constant float32[6x5] random(4)\n %u = constant float32[6x4] random(5)\n"
      "%rows = constant int64[2] {-1, 4}\n %whole = constant int64[3] {2, 3, 5}\n"
      "%other = constant int64[3] {3, 2, 5}\n %a = act(%x) kind=tanh\n %f = " +
      c.flat + "\n" + c.gemm + "\n %r = " + c.back + "\n %y = act(%r) kind=relu\n output %y");
}

TEST(LiftGemm, MakesAProductOfTheWhole) {
  for (const char* gemm : {"%g = gemm(%f, %w, %b)", "%g = gemm(%f, %v, %b) transpose_b=true"}) {
    Graph g = flattened({.gemm = gemm});
    EXPECT_EQ(run(lift_gemm, g), 1) << gemm;
    EXPECT_EQ(count<MatMul>(g), 1);
    EXPECT_EQ(count<Gemm>(g), 0);
    EXPECT_EQ(std::get<Binary>(node_named(g, "r").op).kind, BinaryKind::add);
  }
  Graph alone = flattened({.gemm = "%g = gemm(%f, %w)"});
  EXPECT_EQ(run(lift_gemm, alone), 1);
  EXPECT_EQ(alone.node(alone.value(node_named(alone, "y").inputs[0]).producer).name, "g");
}

TEST(LiftGemm, LeavesOtherShapesFactorsAndReaders) {
  for (const LiftCase& c :
       {LiftCase{.gemm = "%g = gemm(%f, %w, %b) alpha=2"},
        LiftCase{.gemm = "%g = gemm(%f, %w, %e)"},
        LiftCase{.gemm = "%g = gemm(%u, %f) transpose_a=true", .back = "act(%g) kind=tanh"},
        LiftCase{.gemm = "%g = gemm(%f, %w, %b)\n output %g"},
        LiftCase{.back = "reshape(%g, %other)"}, LiftCase{.back = "act(%g) kind=tanh"},
        LiftCase{.gemm = "%g = gemm(%u, %w, %b)"}}) {
    Graph g = flattened(c);
    EXPECT_EQ(run(lift_gemm, g), 0) << c.gemm << c.back;
  }
}

}  // namespace
}  // namespace enginery
