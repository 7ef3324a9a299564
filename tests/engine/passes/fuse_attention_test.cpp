#include "engine/passes/fuse_attention.h"

#include <gtest/gtest.h>

#include "engine/passes/pass.h"
#include "engine/passes/remove_dead.h"
#include "tests/engine/passes/passes_support.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

// The attention that is left of a graph, all pieces gone but `others` nodes.
Attention expect_one(Graph g, int others = 0) {
  const std::string before = to_text(g);
  EXPECT_EQ(run(fuse_attention, g), 1) << before;
  run(remove_dead, g);
  EXPECT_EQ(count<Attention>(g), 1) << to_text(g);
  EXPECT_EQ(g.live_node_count(), 1 + others) << to_text(g);
  for (const NodeId id : g.topological_order())
    if (const auto* op = std::get_if<Attention>(&g.node(id).op)) return *op;
  return {};
}

void expect_none(const std::string& body) {
  Graph g = parse(body);
  EXPECT_EQ(run(fuse_attention, g), 0) << to_text(g);
}

// Heads of 8, 3 of them, 5 places: `%q`, `%k`, `%v` are [2, 3, 5, 8], `%t` is k turned.
const std::string kHeads = R"(input %q : float32[2x3x5x8]
  input %k : float32[2x3x5x8]
  input %v : float32[2x3x5x8]
  %scale = constant float32[] {0.3535}
  %root = constant float32[] {2.8284}
  %t = transpose(%k) permutation=[0,1,3,2]
)";
const std::string kProduct = "%s = matmul(%q, %t)\n";
const std::string kWeigh = "%w = softmax(%m) axis=-1\n %y = matmul(%w, %v)\n output %y";

TEST(FuseAttention, TakesAScaleWhereverItStands) {
  for (const std::string scores :
       {"%s = matmul(%q, %t)\n %m = binary(%s, %scale) kind=mul\n",
        "%s = matmul(%q, %t)\n %m = binary(%s, %root) kind=div\n",
        "%x = binary(%q, %scale) kind=mul\n %m = matmul(%x, %t)\n",
        "%x = binary(%scale, %q) kind=mul\n %z = binary(%t, %root) kind=div\n %m = matmul(%x, "
        "%z)\n"}) {
    const Attention op = expect_one(parse(kHeads + scores + kWeigh));
    EXPECT_NEAR(op.scale, scores.find("%z") == std::string::npos ? 0.3535f : 0.125f, 1e-3f);
    EXPECT_EQ(op.batch, (std::vector<int64_t>{6})) << "images and heads are one stack here";
    EXPECT_EQ(op.k, (std::vector<int64_t>{0, 40, 8, 1})) << "as they were before they were turned";
  }
}

TEST(FuseAttention, ReadsAPackedProductWhereItIs) {
  const std::string packed = R"(input %x : float32[2x5x72]
    %shape = constant int64[5] {2, 5, 3, 3, 8}
    %out = constant int64[3] {2, 5, 24}
    %zero = constant int64[] {0}
    %one = constant int64[] {1}
    %two = constant int64[] {2}
    %axis = constant int64[1] {0}
    %p = reshape(%x, %shape)
    %h = transpose(%p) permutation=[2,0,3,1,4]
    )";
  const std::string gathered =
      "%q = gather(%h, %zero) axis=0\n %k = gather(%h, %one) axis=0\n %v = gather(%h, %two) "
      "axis=0\n";
  const std::string split =
      "%a, %b, %c = split(%h) axis=0 sizes=[1,1,1]\n %q = squeeze(%a, %axis)\n %k = squeeze(%b, "
      "%axis)\n %v = squeeze(%c, %axis)\n";
  const std::string rest = R"(%t = transpose(%k) permutation=[0,1,3,2]
    %s = matmul(%q, %t)
    %w = softmax(%s) axis=3
    %m = matmul(%w, %v)
    %n = transpose(%m) permutation=[0,2,1,3]
    %y = reshape(%n, %out)
    output %y)";
  for (const std::string& parts : {gathered, split}) {
    const Attention op = expect_one(parse(packed + parts + rest));
    EXPECT_EQ(op.batch, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(op.q, (std::vector<int64_t>{0, 360, 8, 72, 1}));
    EXPECT_EQ(op.k, (std::vector<int64_t>{24, 360, 8, 72, 1}));
    EXPECT_EQ(op.v, (std::vector<int64_t>{48, 360, 8, 72, 1}));
    EXPECT_EQ(op.y, (std::vector<int64_t>{0, 120, 8, 24, 1}));
    EXPECT_EQ(op.output, (Dims{2, 5, 24}));
  }
}

TEST(FuseAttention, ReadsPartsOfOneSlice) {
  const Attention op = expect_one(parse(R"(input %x : float32[5x48]
    %two = constant int64[1] {1}
    %a = constant int64[1] {0}
    %b = constant int64[1] {16}
    %c = constant int64[1] {32}
    %d = constant int64[1] {48}
    %q = slice(%x, %a, %b, %two)
    %k = slice(%x, %b, %c, %two)
    %v = slice(%x, %c, %d, %two)
    %t = transpose(%k) permutation=[1,0]
    %s = matmul(%q, %t)
    %w = softmax(%s) axis=1
    %y = matmul(%w, %v)
    output %y)"));
  EXPECT_EQ(op.batch, (std::vector<int64_t>{}));
  EXPECT_EQ(op.v, (std::vector<int64_t>{32, 48, 1}));
}

// As repeat_kv of `transformers` writes it: keys and values of 2 heads for 6.
TEST(FuseAttention, SharesTheKeysOfGroupedHeads) {
  const Attention op = expect_one(parse(R"(input %q : float32[1x6x5x8]
    input %c : float32[1x2x5x8]
    %wide = constant int64[5] {1, 2, 3, 5, 8}
    %all = constant int64[4] {1, 6, 5, 8}
    %axis = constant int64[1] {2}
    %u = unsqueeze(%c, %axis)
    %e = expand(%u, %wide)
    %k = reshape(%e, %all)
    %t = transpose(%k) permutation=[0,1,3,2]
    %s = matmul(%q, %t)
    %w = softmax(%s) axis=-1
    %y = matmul(%w, %k)
    output %y)"));
  EXPECT_EQ(op.batch, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(op.k, (std::vector<int64_t>{0, 40, 0, 8, 1}));
  EXPECT_EQ(op.q, (std::vector<int64_t>{0, 120, 40, 8, 1}));
}

TEST(FuseAttention, TakesMasks) {
  const std::string addend = "input %mask : float32[2x1x1x5]\n";
  Attention op =
      expect_one(parse(kHeads + addend + kProduct + "%m = binary(%mask, %s) kind=add\n" + kWeigh));
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 5, 0, 0, 1}));
  EXPECT_EQ(op.batch, (std::vector<int64_t>{2, 3}));
  const std::string choice =
      "input %c : float32[5x5]\n %zero = constant float32[] {0}\n %least = constant float32[] "
      "{-10000}\n %keep = binary(%c, %zero) kind=less\n";
  op = expect_one(
      parse(kHeads + choice + kProduct +
            "%r = binary(%s, %scale) kind=mul\n %m = select(%keep, %r, %least)\n" + kWeigh),
      1);
  EXPECT_EQ(op.choice, (std::vector<int64_t>{0, 0, 5, 1}));
  EXPECT_EQ(op.blank, -10000);
  EXPECT_FALSE(op.hides);
  op = expect_one(
      parse(kHeads + choice + addend + kProduct +
            "%r = select(%keep, %least, %s)\n %m = binary(%r, %mask) kind=add\n" + kWeigh),
      1);
  EXPECT_TRUE(op.hides);
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 5, 0, 0, 1}));
}

// MPNet: relative positions, the same for all images, and a mask.
TEST(FuseAttention, TakesTwoAddendsAsTheirSum) {
  const std::string sum =
      kProduct + "%b = binary(%s, %bias) kind=add\n %m = binary(%b, %mask) kind=add\n" + kWeigh;
  Attention op = expect_one(parse(kHeads +
                                  "%bias = constant float32[1x3x5x5] random(1)\n"
                                  "%mask = constant float32[2x1x1x5] random(2)\n" +
                                  sum));
  EXPECT_EQ(op.batch, (std::vector<int64_t>{6}));
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 25, 5, 1})) << "a constant of them both";
  // At run time they are added beforehand, without the size of the scores where neither has it.
  op = expect_one(
      parse(kHeads + "input %bias : float32[5x1]\n input %mask : float32[2x1x1x5]\n" + sum), 2);
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 25, 0, 5, 1}));
}

TEST(FuseAttention, AddsWhatTwoLayersShareOnce) {
  Graph g = parse(kHeads + "input %bias : float32[1x3x5x5]\n input %mask : float32[2x1x1x5]\n" +
                  kProduct +
                  "%b = binary(%s, %bias) kind=add\n %m = binary(%b, %mask) kind=add\n"
                  "%w = softmax(%m) axis=-1\n %first = matmul(%w, %v)\n"
                  "%s2 = matmul(%first, %t)\n"
                  "%b2 = binary(%s2, %bias) kind=add\n %m2 = binary(%b2, %mask) kind=add\n"
                  "%w2 = softmax(%m2) axis=-1\n %y = matmul(%w2, %v)\n output %y");
  EXPECT_EQ(run(fuse_attention, g), 2) << to_text(g);
  run(remove_dead, g);
  EXPECT_EQ(count<Binary>(g), 1) << to_text(g);
  EXPECT_EQ(count<Attention>(g), 2);
}

// Swin: of each image's 3 windows, each with a mask of its own, while heads add their positions.
TEST(FuseAttention, TakesAMaskOfWindowsBetweenReshapesOfTheStack) {
  const Attention op = expect_one(parse(R"(input %q : float32[6x2x5x8]
    input %k : float32[6x2x5x8]
    input %v : float32[6x2x5x8]
    %bias = constant float32[1x2x5x5] random(1)
    %mask = constant float32[1x3x1x5x5] random(2)
    %apart = constant int64[5] {2, 3, 2, 5, 5}
    %joined = constant int64[4] {6, 2, 5, 5}
    %t = transpose(%k) permutation=[0,1,3,2]
    %s = matmul(%q, %t)
    %b = binary(%s, %bias) kind=add
    %r = reshape(%b, %apart)
    %m = binary(%r, %mask) kind=add
    %j = reshape(%m, %joined)
    %w = softmax(%j) axis=-1
    %y = matmul(%w, %v)
    output %y)"));
  EXPECT_EQ(op.batch, (std::vector<int64_t>{2, 6}));
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 0, 25, 5, 1})) << "images share it";
}

// Bloom: products over one stack of images and heads, which a mask wants apart.
TEST(FuseAttention, TakesSlopesBehindAReshape) {
  const Attention op = expect_one(parse(R"(input %q : float32[6x5x8]
    input %t : float32[6x8x5]
    input %v : float32[6x5x8]
    input %alibi : float32[6x1x5]
    input %mask : float32[2x1x5x5]
    %scale = constant float32[] {0.3535}
    %apart = constant int64[4] {2, 3, 5, 5}
    %joined = constant int64[3] {6, 5, 5}
    %s = matmul(%q, %t)
    %x = binary(%s, %scale) kind=mul
    %b = binary(%alibi, %x) kind=add
    %r = reshape(%b, %apart)
    %m = binary(%r, %mask) kind=add
    %w = softmax(%m) axis=-1
    %j = reshape(%w, %joined)
    %y = matmul(%j, %v)
    output %y)"),
                                  2);
  EXPECT_EQ(op.queries, 5);
  EXPECT_EQ(op.addend, (std::vector<int64_t>{0, 25, 5, 1}));
}

TEST(FuseAttention, LeavesThreeAddendsAndReshapesOfTheMatrices) {
  expect_none(kHeads + "input %a : float32[5x5]\n" + kProduct +
              "%b = binary(%s, %a) kind=add\n %c = binary(%b, %a) kind=add\n"
              "%m = binary(%c, %a) kind=add\n" +
              kWeigh);
  expect_none(kHeads +
              "input %a : float32[2x3x1x25]\n %flat = constant int64[4] {2, 3, 1, 25}\n"
              "%square = constant int64[4] {2, 3, 5, 5}\n" +
              kProduct +
              "%f = reshape(%s, %flat)\n %b = binary(%f, %a) kind=add\n"
              "%m = reshape(%b, %square)\n" +
              kWeigh);
}

TEST(FuseAttention, TakesZerosInPlaceOfNaN) {
  const std::string weights = "%n = unary(%w) kind=is_nan\n %g = select(%n, %none, %w)\n";
  const std::string head = kHeads + "%none = constant float32[] {0}\n" + kProduct;
  const std::string weigh = "%w = softmax(%s) axis=-1\n";
  const std::string last = "%y = matmul(%g, %v)\n output %y";
  EXPECT_EQ(expect_one(parse(head + weigh + weights + last)).zeros, ZeroRows::nan);
  EXPECT_EQ(expect_one(parse(head + weigh + "%y = matmul(%w, %v)\n output %y")).zeros,
            ZeroRows::none);
  // Others than 0, the other way round, NaN of something else, and what is read elsewhere, too.
  for (const std::string& guard :
       {std::string("%n = unary(%w) kind=is_nan\n %g = select(%n, %scale, %w)\n"),
        std::string("%n = unary(%w) kind=is_nan\n %g = select(%n, %w, %none)\n"),
        std::string("%n = unary(%w) kind=is_inf\n %g = select(%n, %none, %w)\n"),
        std::string("%n = unary(%s) kind=is_nan\n %g = select(%n, %none, %w)\n"),
        weights + "output %n\n", weights + "output %w\n",
        weights + "%z = unary(%w) kind=sqrt\n output %z\n"})
    expect_none(head + weigh + guard + last);
}

// As operator set 23's Attention with a mask is read.
TEST(FuseAttention, TakesZerosInRowsThatTheMaskHides) {
  const std::string head = kHeads + "input %a : float32[5x5]\n%none = constant float32[] {0}\n" +
                           kProduct + "%m = binary(%s, %a) kind=add\n%w = softmax(%m) axis=-1\n";
  const std::string most = "%most = reduce(%a) kind=max axes=[-1]\n";
  const std::string hidden = "%h = unary(%most) kind=is_negative_inf\n";
  const std::string last = "%y = matmul(%g, %v)\n output %y";
  const std::string guard = "%g = select(%h, %none, %w)\n";
  EXPECT_EQ(expect_one(parse(head + most + hidden + guard + last)).zeros, ZeroRows::masked);
  // Of something else, by another reduction or number, and what is read elsewhere, too.
  for (const std::string& other :
       {"%most = reduce(%s) kind=max axes=[-1]\n" + hidden + guard,
        "%most = reduce(%a) kind=min axes=[-1]\n" + hidden + guard,
        "%most = reduce(%a) kind=max axes=[0]\n" + hidden + guard,
        most + "%h = unary(%most) kind=is_nan\n" + guard,
        most + hidden + "%g = select(%h, %scale, %w)\n",
        most + hidden + "%g = select(%h, %w, %none)\n", most + hidden + guard + "output %w\n"})
    expect_none(head + other + last);
}

TEST(FuseAttention, KnowsACausalChoice) {
  const std::string least = "%least = constant float32[] {-10000}\n";
  const std::string scores = kProduct + "%m = select(%keep, %s, %least)\n" + kWeigh;
  const std::string causal =
      "%keep = constant boolean[1x1x5x5] {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, "
      "0, 1, 1, 1, 1, 1}\n";
  const std::string other =
      "%keep = constant boolean[1x1x5x5] {1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, "
      "1, 1, 1, 1, 1, 1}\n";
  Attention op = expect_one(parse(kHeads + least + causal + scores));
  EXPECT_TRUE(op.causal);
  EXPECT_TRUE(op.choice.empty());
  op = expect_one(parse(kHeads + least + other + scores));
  EXPECT_FALSE(op.causal);
  EXPECT_FALSE(op.choice.empty());
}

// Everything that is almost an attention.
TEST(FuseAttention, LeavesWhatOnlyLooksLikeOne) {
  const std::string scaled = kProduct + "%m = binary(%s, %scale) kind=mul\n";
  expect_one(parse(kHeads + scaled + kWeigh));
  for (const std::string weigh :
       {"%w = softmax(%m) axis=2\n %y = matmul(%w, %v)\n output %y",
        "%w = softmax(%m) axis=-1 log=true\n %y = matmul(%w, %v)\n output %y",
        "%w = softmax(%m) axis=-1\n %y = matmul(%w, %v)\n output %y\n output %w",
        "%w = softmax(%m) axis=-1\n %y = matmul(%w, %v)\n output %y\n output %m",
        "%w = softmax(%m) axis=-1\n %y = matmul(%w, %v)\n output %y\n output %s",
        "%w = softmax(%m) axis=-1\n %y = matmul(%w, %w)\n output %y",
        "%w = softmax(%m) axis=-1\n %y = matmul(%v, %w)\n output %y",
        "%w = softmax(%m) axis=-1\n %r = unary(%w) kind=sqrt\n %y = matmul(%r, %v)\n output %y"}) {
    std::string heads = kHeads;
    if (weigh.find("(%v, %w)") != std::string::npos)
      heads.replace(heads.find("%v : float32[2x3x5x8]"), 21, "%v : float32[2x3x8x5]");
    expect_none(heads + scaled + weigh);
  }
  for (const std::string scores :
       {"%s = matmul(%q, %t)\n %m = binary(%scale, %s) kind=div\n",
        "%s = matmul(%q, %t)\n %m = binary(%s, %s) kind=mul\n",
        "%s = matmul(%q, %t)\n %m = binary(%s, %scale) kind=max\n",
        "input %mask : float32[2x1x1x5]\n %s = matmul(%q, %t)\n %a = binary(%s, %mask) kind=add\n "
        "%m = binary(%a, %scale) kind=mul\n",
        "input %mask : float32[2x1x1x5]\n %s = matmul(%q, %t)\n %m = binary(%mask, %s) kind=sub\n",
        "%k2 = constant float32[2x3x8x5] random(1)\n %m = matmul(%q, %k2)\n"})
    expect_none(kHeads + scores + kWeigh);
}

TEST(FuseAttention, LeavesAMaskThatRepeatsTheScores) {
  expect_none(R"(input %q : float32[1x5x8]
    input %k : float32[1x8x5]
    input %v : float32[2x5x8]
    input %mask : float32[2x5x5]
    %s = matmul(%q, %k)
    %m = binary(%s, %mask) kind=add
    %w = softmax(%m) axis=-1
    %y = matmul(%w, %v)
    output %y)");
}

TEST(FuseAttention, LeavesHeadsThatKernelsDoNotServe) {
  expect_none(R"(input %q : float32[2x5x257]
    input %k : float32[2x257x5]
    input %v : float32[2x5x8]
    %s = matmul(%q, %k)
    %w = softmax(%s) axis=-1
    %y = matmul(%w, %v)
    output %y)");
}

// The transposition that a reader of its own wants stays for it.
TEST(FuseAttention, TakesAResultThatIsMovedForSeveralReaders) {
  Graph g = parse(kHeads + kProduct + "%w = softmax(%s) axis=-1\n %y = matmul(%w, %v)\n" +
                  "%a = transpose(%y) permutation=[0,2,1,3]\n output %a\n output %y");
  const Attention op = expect_one(g, 1);
  EXPECT_EQ(op.output, (Dims{2, 3, 5, 8}));
}

TEST(FuseAttention, KeepsTheResultsOfTheWholeList) {
  Graph g = parse(kHeads + kProduct + "%m = binary(%s, %scale) kind=mul\n" + kWeigh);
  const Graph before = g;
  ASSERT_TRUE(run_passes(g, {}));
  expect_same_results(before, g);
  EXPECT_EQ(count<Attention>(g), 1);
}

// What random_graphs_test.cpp compares is there to be compared: fused ones and near misses.
TEST(FuseAttention, IsFoundInRandomGraphs) {
  int fused = 0, left = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Graph g = test::random_graph(seed).graph;
    const auto changed = fuse_attention(g);
    ASSERT_TRUE(changed) << changed.error().message;
    fused += *changed;
    ASSERT_TRUE(remove_dead(g));
    left += count<Softmax>(g);
  }
  EXPECT_GT(fused, 10);
  EXPECT_GT(left, 10);
}

}  // namespace
}  // namespace enginery
