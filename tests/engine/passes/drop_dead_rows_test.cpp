#include "engine/passes/drop_dead_rows.h"

#include <gtest/gtest.h>

#include "engine/passes/pass.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const Dims& dims_named(const Graph& g, const std::string& name) {
  return g.value(node_named(g, name).outputs[0]).type.dims;
}

// Two blocks of a small encoder over [2, 5, 8] and a head that reads one place: what `take` makes
// of %e. Two heads of 4; products, normalisation, residuals, and attention in one piece.
std::string block(const std::string& in, const std::string& out, const std::string& more = "") {
  const auto n = [&](const std::string& name) { return "%" + name + out; };
  return n("l") + " = layer_norm(%" + in + ", %one, %zero) axis=-1\n" + n("p") + " = matmul(" +
         n("l") + ", %qkv)\n" + n("a") + " = attention(" + n("p") + ", " + n("p") + ", " + n("p") +
         ") batch=[2,2] queries=5 keys=5 depth=4 width=4 q=[0,120,4,24,1] k=[8,120,4,24,1] "
         "v=[16,120,4,24,1] y=[0,40,4,8,1] output=[2,5,8] scale=0.5" +
         more + "\n" + n("o") + " = matmul(" + n("a") + ", %w)\n" + n("r") + " = binary(%" + in +
         ", " + n("o") + ") kind=add\n" + n("m") + " = layer_norm(" + n("r") +
         ", %one, %zero) axis=-1\n" + n("f") + " = matmul(" + n("m") + ", %w)\n" + n("b") +
         " = binary(" + n("f") + ", %zero) kind=add\n" + n("g") + " = act(" + n("b") +
         ") kind=relu\n%" + out + " = binary(" + n("r") + ", " + n("g") + ") kind=add\n";
}

Graph encoder(const std::string& take, const std::string& more = "") {
  return parse(
      "input %x : float32[2x5x8]\n %one = constant float32[8] random(1)\n"
      "%zero = constant float32[8] random(2)\n %qkv = constant float32[8x24] random(3)\n"
      "%w = constant float32[8x8] random(4)\n %first = constant int64[] {0}\n"
      "%from = constant int64[1] {-1}\n %to = constant int64[1] {5}\n"
      "%axis = constant int64[1] {1}\n" +
      block("x", "d", more) + block("d", "e", more) + take);
}

const std::string kHead = "%h = matmul(%c, %w)\n output %h";

TEST(DropDeadRows, ComputesTheLastBlockForTheClassTokenAlone) {
  Graph g = encoder("%c = gather(%e, %first) axis=1\n" + kHead);
  EXPECT_EQ(run(drop_dead_rows, g), 8) << to_text(g);
  for (const std::string name : {"ae", "oe", "re", "me", "fe", "be", "ge", "e"})
    EXPECT_EQ(dims_named(g, name), (Dims{2, 1, 8})) << name;
  EXPECT_EQ(dims_named(g, "pe"), (Dims{2, 5, 24})) << "keys and values are those of all places";
  EXPECT_EQ(dims_named(g, "d"), (Dims{2, 5, 8}));
  const auto& op = std::get<Attention>(node_named(g, "ae").op);
  EXPECT_EQ(op.queries, 1);
  EXPECT_EQ(op.keys, 5);
  EXPECT_EQ(op.y, (std::vector<int64_t>{0, 8, 4, 8, 1}));
  EXPECT_EQ(count<Slice>(g), 1) << "the residual";
  EXPECT_EQ(count<Gather>(g), 0);
}

TEST(DropDeadRows, CountsACausalMaskFromTheLastQuery) {
  Graph last = encoder("%c = slice(%e, %from, %to, %axis)\n" + kHead, " causal=true");
  EXPECT_EQ(run(drop_dead_rows, last), 8) << to_text(last);
  EXPECT_EQ(std::get<Attention>(node_named(last, "ae").op).q[0], 4 * 24);
  EXPECT_EQ(dims_named(last, "h"), (Dims{2, 1, 8}));
  // Of any other place the first keys only count, which the operator cannot say.
  Graph first = encoder("%c = gather(%e, %first) axis=1\n" + kHead, " causal=true");
  EXPECT_EQ(run(drop_dead_rows, first), 7) << to_text(first);
  EXPECT_EQ(std::get<Attention>(node_named(first, "ae").op).queries, 5);
  EXPECT_EQ(dims_named(first, "oe"), (Dims{2, 1, 8}));
}

TEST(DropDeadRows, LeavesWhatIsReadOtherwise) {
  const std::string one = "%c = gather(%e, %first) axis=1\n";
  for (const std::string& take :
       {one + "output %e\n" + kHead,
        one + "%i = slice(%e, %from, %to, %axis)\n output %i\n" + kHead,
        one + "%i = reduce(%e) kind=sum axes=[1] keep_dims=false\n output %i\n" + kHead}) {
    Graph g = encoder(take);
    const std::string before = to_text(g);
    EXPECT_EQ(run(drop_dead_rows, g), 0);
    EXPECT_EQ(to_text(g), before);
  }
}

struct RowsCase {
  const char* what;
  std::string body;
  int narrowed;
};

class DropDeadRowsOf : public testing::TestWithParam<RowsCase> {};

TEST_P(DropDeadRowsOf, KeepsTheResults) {
  Graph g = parse(
      "input %x : float32[4x6x8]\n input %m : float32[24x8]\n input %z : float32[6x1]\n"
      "%w = constant float32[8x3] random(1)\n %k = constant float32[6x3] random(2)\n"
      "%v = constant float32[4x8x3] random(3)\n %t = constant int64[1] {2}\n"
      "%f = constant int64[1] {4}\n %one = constant int64[1] {1}\n"
      "%two = constant int64[1] {0}\n %s = constant int64[3] {4, 6, 8}\n"
      "%r = constant int64[2] {24, 3}\n %u = constant int64[3] {4, 6, 3}\n" +
      GetParam().body + "\n output %y");
  EXPECT_EQ(run(drop_dead_rows, g), GetParam().narrowed) << to_text(g);
}

// The third and fourth row of six: axis 1 of %p.
const std::string kTake = "\n%y = slice(%p, %t, %f, %one)";
const RowsCase kRowsCases[] = {
    {"CutsConstantsBeside", "%a = matmul(%x, %w)\n %p = binary(%k, %a) kind=mul" + kTake, 2},
    {"CutsWhatIsBroadcast",
     "%a = matmul(%x, %w)\n %b = softmax(%a) axis=2\n %p = binary(%b, %z) kind=sub" + kTake, 3},
    {"CutsAStackOfProducts", "%p = matmul(%x, %v)\n %y = slice(%p, %t, %f, %two)", 1},
    {"CutsTheRowsOfAStack", "%p = matmul(%x, %v)" + kTake, 1},
    {"CrossesATranspose",
     "%a = matmul(%x, %w)\n %p = transpose(%a) permutation=[1,0,2]\n"
     "%y = slice(%p, %t, %f, %two)",
     2},
    {"CrossesAReshapeThatJoins",
     "%a = matmul(%x, %w)\n %b = reshape(%a, %r)\n %six = constant int64[1] {6}\n"
     "%p = unary(%b) kind=neg\n %till = constant int64[1] {18}\n"
     "%y = slice(%p, %six, %till, %two)",
     3},
    {"CrossesAReshapeThatSplits",
     "%a = gemm(%m, %w)\n %p = reshape(%a, %u)\n %y = slice(%p, %t, %f, %two)", 2},
    {"StaysWhereAReshapeMixes",
     "%a = matmul(%x, %w)\n %b = reshape(%a, %r)\n %five = constant int64[1] {5}\n"
     "%y = slice(%b, %t, %five, %two)",
     0},
    {"StaysBelowASoftmaxOverTheRows", "%a = matmul(%x, %w)\n %p = softmax(%a) axis=1" + kTake, 0},
    {"StaysBelowColumns", "%p = matmul(%x, %w)\n %y = slice(%p, %one, %t, %t)", 0},
    {"StaysWhereNothingCostlyIsSaved", "%a = unary(%x) kind=neg\n %p = act(%a) kind=relu" + kTake,
     0},
    {"StaysWithAStep",
     "%p = matmul(%x, %w)\n %six = constant int64[1] {6}\n"
     "%y = slice(%p, %two, %six, %one, %t)",
     0},
};

INSTANTIATE_TEST_SUITE_P(Graphs, DropDeadRowsOf, testing::ValuesIn(kRowsCases),
                         [](const auto& c) { return std::string(c.param.what); });

}  // namespace
}  // namespace enginery
