#include "engine/passes/merge_products.h"

#include <gtest/gtest.h>

#include "engine/passes/fuse_attention.h"
#include "engine/passes/pass.h"
#include "engine/passes/remove_dead.h"
#include "tests/engine/passes/passes_support.h"
#include "tests/support/random_graph.h"

namespace enginery {
namespace {

// How queries, keys and values of `%x` [2, 5, 24] are made, and what else the graph gives.
struct Attended {
  std::string q = "%q = matmul(%x, %wq)", k = "%k = matmul(%x, %wk)", v = "%v = matmul(%x, %wv)",
              rest;
};

// Three heads of 8, once the attention's pieces are one node.
Graph attended(const Attended& by) {
  const auto heads_of = [](const std::string& of) {
    return "%" + of + "r = reshape(%" + of + ", %shape)\n %" + of + "h = transpose(%" + of +
           "r) permutation=[0,2,1,3]\n";
  };
  Graph g = parse(R"(input %x : float32[2x5x24]
    input %z : float32[2x5x24]
    input %run_time : float32[24x24]
    %shape = constant int64[4] {2, 5, 3, 8}
    %merged = constant int64[3] {2, 5, 24}
    %rows = constant int64[2] {10, 24}
    %wq = constant float32[24x24] random(1)
    %wk = constant float32[24x24] random(2)
    %wv = constant float32[24x24] random(3)
    %bq = constant float32[24] random(4)
    %bk = constant float32[24] random(5)
    %bv = constant float32[1x24] random(6)
    %one = constant float32[1] {0.5}
    %flat = reshape(%x, %rows)
    )" + by.q + "\n" +
                  by.k + "\n" + by.v + "\n" + heads_of("q") + heads_of("k") + heads_of("v") +
                  R"(%t = transpose(%kh) permutation=[0,1,3,2]
    %s = matmul(%qh, %t)
    %p = softmax(%s) axis=-1
    %m = matmul(%p, %vh)
    %mt = transpose(%m) permutation=[0,2,1,3]
    %y = reshape(%mt, %merged)
    output %y
    )" + by.rest);
  EXPECT_EQ(run(fuse_attention, g), 1);
  run(remove_dead, g);
  return g;
}

Attention attention_of(const Graph& g) {
  for (const NodeId id : g.topological_order())
    if (const auto* op = std::get_if<Attention>(&g.node(id).op)) return *op;
  ADD_FAILURE() << "no attention";
  return {};
}

TEST(MergeProducts, MakesOneOfQueriesKeysAndValues) {
  Graph g = attended({});
  EXPECT_EQ(count<MatMul>(g), 3);
  EXPECT_EQ(run(merge_products, g), 1);
  EXPECT_EQ(count<MatMul>(g), 1) << to_text(g);
  EXPECT_EQ(g.value(node_named(g, "q").outputs[0]).type.dims, (Dims{2, 5, 72}));
  const Attention op = attention_of(g);
  EXPECT_EQ(op.q, (std::vector<int64_t>{0, 360, 8, 72, 1}));
  EXPECT_EQ(op.k, (std::vector<int64_t>{24, 360, 8, 72, 1}));
  EXPECT_EQ(op.v, (std::vector<int64_t>{48, 360, 8, 72, 1}));
}

TEST(MergeProducts, TakesBiasesAlongAndZerosWhereOneHasNone) {
  const std::string q = "%a = matmul(%x, %wq)\n %q = binary(%a, %bq) kind=add",
                    k = "%b = matmul(%x, %wk)\n %k = binary(%bk, %b) kind=add",
                    v = "%c = matmul(%x, %wv)\n %v = binary(%c, %bv) kind=add";
  Graph g = attended({q, k, v, ""});
  EXPECT_EQ(run(merge_products, g), 1);
  EXPECT_EQ(count<MatMul>(g), 1);
  EXPECT_EQ(count<Binary>(g), 1);
  Graph some = attended({.k = k});
  EXPECT_EQ(run(merge_products, some), 1);
  EXPECT_EQ(count<MatMul>(some), 1);

  const std::string gemm_q = "%q = gemm(%flat, %wq, %bq) transpose_b=true",
                    gemm_k = "%k = gemm(%flat, %wk) transpose_b=true",
                    gemm_v = "%v = gemm(%flat, %wv, %bv) transpose_b=true";
  Graph rows = attended({gemm_q, gemm_k, gemm_v, ""});
  EXPECT_EQ(run(merge_products, rows), 1);
  EXPECT_EQ(count<Gemm>(rows), 1);
  EXPECT_EQ(rows.value(node_named(rows, "q").inputs[1]).type.dims, (Dims{72, 24}));
  EXPECT_EQ(rows.value(node_named(rows, "q").inputs[2]).type.dims, (Dims{72}));
}

// A decoder's queries come from elsewhere: keys and values are merged.
TEST(MergeProducts, MergesThoseThatReadOneValue) {
  Graph g = attended({.q = "%q = matmul(%z, %wq)"});
  EXPECT_EQ(run(merge_products, g), 1);
  EXPECT_EQ(count<MatMul>(g), 2);
  EXPECT_EQ(attention_of(g).v, (std::vector<int64_t>{24, 240, 8, 48, 1}));
}

TEST(MergeProducts, LeavesWhatOnlyLooksAlike) {
  const std::string k = "%k = matmul(%z, %wk)";
  for (const Attended& by : {
           Attended{.q = "%q = matmul(%z, %wq)", .v = "%v = matmul(%z, %run_time)"},
           Attended{.k = k, .v = "%v = matmul(%x, %run_time)"},
           Attended{.k = k, .rest = "output %q"},
           Attended{.k = k, .rest = "%e = act(%v) kind=relu\n output %e"},
           Attended{.k = k, .v = "%c = matmul(%x, %wv)\n %v = act(%c) kind=tanh"},
           Attended{.k = k, .v = "%c = matmul(%x, %wv)\n %v = binary(%c, %bv) kind=mul"},
           Attended{.k = k, .v = "%c = matmul(%x, %wv)\n %v = binary(%c, %one) kind=add"},
           Attended{.k = k,
           .v = "%c = matmul(%x, %wv)\n %v = binary(%c, %bv) kind=add\n output %c"},
           Attended{.k = k, .v = "%v = gemm(%flat, %wv)"},
           Attended{
               .q = "%q = gemm(%flat, %wq) transpose_b=true", .k = k, .v = "%v = gemm(%flat, %wv)"},
           Attended{
               .q = "%q = gemm(%flat, %wq) alpha=2", .k = k, .v = "%v = gemm(%flat, %wv) alpha=2"},
       }) {
    Graph g = attended(by);
    EXPECT_EQ(run(merge_products, g), 0) << by.q << "\n" << by.v << "\n" << by.rest;
  }
}

// One place of several images: the heads of all images lie in one run, which parts of rows break.
TEST(MergeProducts, LeavesRunsThatGoOnInTheNextRow) {
  Graph g = parse(R"(input %x : float32[2x24]
    %wq = constant float32[24x24] random(1)
    %wk = constant float32[24x24] random(2)
    %wv = constant float32[24x24] random(3)
    %q = matmul(%x, %wq)
    %k = matmul(%x, %wk)
    %v = matmul(%x, %wv)
    %heads = constant int64[4] {2, 3, 1, 8}
    %turned = constant int64[4] {2, 3, 8, 1}
    %qh = reshape(%q, %heads)
    %kt = reshape(%k, %turned)
    %vh = reshape(%v, %heads)
    %s = matmul(%qh, %kt)
    %p = softmax(%s) axis=-1
    %y = matmul(%p, %vh)
    output %y)");
  EXPECT_EQ(run(fuse_attention, g), 1);
  run(remove_dead, g);
  EXPECT_EQ(run(merge_products, g), 0);
}

// A layer of an encoder as PyTorch's exporters write it, of `%h` [2, 5, 24]: products, their
// biases, heads, mask, residuals, normalisations, GELU.
std::string encoder_layer(const std::string& h, const std::string& p, const std::string& y) {
  const std::string layer = R"(
    %@wq = constant float32[24x24] random(1)
    %@wk = constant float32[24x24] random(2)
    %@wv = constant float32[24x24] random(3)
    %@wo = constant float32[24x24] random(4)
    %@wi = constant float32[24x96] random(5)
    %@we = constant float32[96x24] random(6)
    %@b = constant float32[24] random(7)
    %@bk = constant float32[24] random(8)
    %@bi = constant float32[96] random(9)
    %@g = constant float32[24] random(10)
    %@qm = matmul(%HIDDEN, %@wq)
    %@qb = binary(%@qm, %@b) kind=add
    %@km = matmul(%HIDDEN, %@wk)
    %@kb = binary(%@km, %@bk) kind=add
    %@vm = matmul(%HIDDEN, %@wv)
    %@vb = binary(%@vm, %@b) kind=add
    %@qr = reshape(%@qb, %heads)
    %@q = transpose(%@qr) permutation=[0,2,1,3]
    %@kr = reshape(%@kb, %heads)
    %@k = transpose(%@kr) permutation=[0,2,3,1]
    %@vr = reshape(%@vb, %heads)
    %@v = transpose(%@vr) permutation=[0,2,1,3]
    %@s = matmul(%@q, %@k)
    %@sd = binary(%@s, %root) kind=div
    %@sm = binary(%@sd, %mask) kind=add
    %@w = softmax(%@sm) axis=-1
    %@c = matmul(%@w, %@v)
    %@ct = transpose(%@c) permutation=[0,2,1,3]
    %@cr = reshape(%@ct, %whole)
    %@o = matmul(%@cr, %@wo)
    %@ob = binary(%@o, %@b) kind=add
    %@r = binary(%@ob, %HIDDEN) kind=add
    %@n = layer_norm(%@r, %@g, %@b) axis=-1 epsilon=1e-05
    %@i = matmul(%@n, %@wi)
    %@ib = binary(%@i, %@bi) kind=add
    %@g1 = binary(%@ib, %sqrt2) kind=div
    %@g2 = unary(%@g1) kind=erf
    %@g3 = binary(%@g2, %one) kind=add
    %@g4 = binary(%@ib, %@g3) kind=mul
    %@g5 = binary(%@g4, %half) kind=mul
    %@e = matmul(%@g5, %@we)
    %@eb = binary(%@e, %@b) kind=add
    %@z = binary(%@eb, %@n) kind=add
    %OUTPUT = layer_norm(%@z, %@g, %@b) axis=-1 epsilon=1e-05
)";
  std::string out = layer;
  const auto replace_all = [&out](const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size())
      out.replace(at, from.size(), to);
  };
  replace_all("@", p);
  replace_all("HIDDEN", h);
  replace_all("OUTPUT", y);
  return out;
}

TEST(MergeProducts, LeavesFourProductsOfSixInALayerOfAnEncoder) {
  const Graph before = parse(R"(input %x : float32[2x5x24]
    input %mask : float32[2x1x1x5]
    %heads = constant int64[4] {2, 5, 3, 8}
    %whole = constant int64[3] {2, 5, 24}
    %root = constant float32[] {2.8284}
    %sqrt2 = constant float32[] {1.4142135}
    %one = constant float32[] {1}
    %half = constant float32[] {0.5}
    )" + encoder_layer("x", "first.", "h") +
                             encoder_layer("h", "second.", "y") + "output %y");
  ASSERT_EQ(count<MatMul>(before), 2 * (6 + 2)) << "two of each layer are the attention's";
  Graph apart = before, merged = before;
  std::string log;
  ASSERT_TRUE(run_passes(apart, {.skip = {"merge_products"}, .dump = {}, .log = {}}));
  ASSERT_TRUE(run_passes(merged, {.skip = {}, .dump = {}, .log = [&](const std::string& line) {
                                    log += line + "\n";
                                  }}));
  EXPECT_EQ(count<MatMul>(apart), 2 * 6);
  EXPECT_EQ(count<MatMul>(merged), 2 * 4);
  EXPECT_EQ(count<Attention>(merged), 2);
  EXPECT_EQ(layer_count(apart) - layer_count(merged), 2 * 2);
  EXPECT_NE(log.find("after merge_products: "), std::string::npos) << log;
  EXPECT_NE(log.find("(2 changed, "), std::string::npos) << log;
  expect_same_results(before, merged);
}

// What random_graphs_test.cpp compares is there to be compared: merged ones and near misses.
TEST(MergeProducts, AreFoundInRandomGraphs) {
  int merged = 0, attentions = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Graph g = test::random_graph(seed).graph;
    ASSERT_TRUE(fuse_attention(g));
    ASSERT_TRUE(remove_dead(g));
    attentions += count<Attention>(g);
    const auto changed = merge_products(g);
    ASSERT_TRUE(changed) << changed.error().message;
    merged += *changed;
  }
  EXPECT_GT(merged, 5);
  EXPECT_GT(attentions, merged + 5);
}

}  // namespace
}  // namespace enginery
