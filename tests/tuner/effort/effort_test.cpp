#include "tuner/effort/effort.h"

#include <gtest/gtest.h>

#include "tuner/effort/worth_measuring.h"

namespace enginery {
namespace {

Tactic tactic(const std::string& id, double estimated_us, Trust trust = Trust::may_be_wrong) {
  Tactic t;
  t.source = "test";
  t.id = id;
  t.trust = trust;
  t.estimated_us = estimated_us;
  return t;
}

// A node whose problem is a relu of so many elements.
NetworkNode node(int64_t elements, std::vector<Tactic> tactics) {
  NetworkNode out;
  out.problem.op = Activation{};
  const TensorType type{DataType::float32, {elements}};
  out.problem.inputs = {{.type = type}};
  out.problem.outputs = {{.type = type}};
  out.tactics = std::move(tactics);
  return out;
}

std::string ids(const std::vector<Tactic>& tactics, const Effort& effort, int level = 3) {
  std::string out;
  for (const Tactic* t : worth_measuring(tactics, level, effort)) out += t->id.back();
  return out;
}

TEST(Effort, IsNeverLessForALargerShare) {
  Effort last = effort_for(0, 3);
  EXPECT_EQ(last, least_effort());
  for (double share = 0; share <= 1; share += 0.001) {
    const Effort now = effort_for(share, 3);
    EXPECT_GE(now.of_a_kind, last.of_a_kind) << share;
    EXPECT_GE(now.of_a_library, last.of_a_library) << share;
    EXPECT_GE(now.within, last.within) << share;
    EXPECT_GE(now.of_slower, last.of_slower) << share;
    EXPECT_GE(now.further_fixtures, last.further_fixtures) << share;
    EXPECT_GE(now.final_samples, last.final_samples) << share;
    EXPECT_LE(now.precise, last.precise) << share;
    last = now;
  }
  EXPECT_GT(last.of_a_kind, least_effort().of_a_kind);
}

TEST(Effort, IsWholeAboveTheDefaultLevelAndForUnknownShares) {
  EXPECT_EQ(effort_for(0.001, 4), Effort());
  EXPECT_EQ(effort_for(-1, 3), Effort());
  EXPECT_EQ(effort_for(0.001, 2), least_effort());
}

// Two nodes of one problem, one of another that takes half of the time, an alternative for it.
TEST(Effort, FollowsTheSharesOfTheLeastEstimates) {
  Network network;
  network.nodes = {node(8, {tactic("a", 9), tactic("b", 1)}), node(8, {tactic("a", 9)}),
                   node(4, {tactic("a", 2), tactic("r", 1000, Trust::reference)})};
  network.nodes[1] = network.nodes[0];
  network.alternatives = {{{2}, {node(2, {tactic("a", 1)})}}};
  EXPECT_DOUBLE_EQ(estimated_network_us(network), 4);
  const auto shares = estimated_shares(network);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_DOUBLE_EQ(shares.at(offer_key(network.nodes[0])), 0.5);
  EXPECT_DOUBLE_EQ(shares.at(offer_key(network.nodes[2])), 0.5);
  EXPECT_DOUBLE_EQ(shares.at(offer_key(network.alternatives[0].instead[0])), 0.25);
}

TEST(Effort, KnowsNoShareWithoutAnEstimate) {
  Network network;
  network.nodes = {node(8, {tactic("a", 3), tactic("b", 0)}), node(4, {tactic("a", 1)})};
  const auto shares = estimated_shares(network);
  EXPECT_LT(shares.at(offer_key(network.nodes[0])), 0);
  EXPECT_DOUBLE_EQ(shares.at(offer_key(network.nodes[1])), 1);
}

TEST(Effort, TakesNoTimeForViews) {
  Network network;
  Tactic view = tactic("view", 1);
  view.view_of = 0;
  network.nodes = {node(8, {view}), node(4, {tactic("a", 1)})};
  EXPECT_DOUBLE_EQ(estimated_shares(network).at(offer_key(network.nodes[0])), 0);
}

TEST(Effort, MeasuresTheFirstOfEachKind) {
  std::vector<Tactic> some{tactic("wide/a", 4), tactic("wide/b", 2),   tactic("wide/c", 3),
                           tactic("wide/d", 3), tactic("narrow/e", 8), tactic("narrow/f", 9)};
  for (Tactic& t : some) t.source = "kernel";
  const Effort two{.of_a_kind = 2};
  EXPECT_EQ(ids(some, two), "bcef");
  EXPECT_EQ(ids(some, {.within = 1.5}), "bcdef");
  EXPECT_EQ(ids(some, two, 4), "abcdef");
  for (Tactic& t : some) t.source = "library";
  EXPECT_EQ(ids(some, two), "abcdef") << "a library's are counted apart";
  EXPECT_EQ(ids(some, {.of_a_library = 1}), "be");
  // Other formats and precisions are other kinds.
  some[0].outputs = {Format{DataType::float16, {}}};
  some[2].compute = Precision::tf32;
  EXPECT_EQ(ids(some, {.of_a_library = 1}), "abce");
}

// Estimates that are the same say nothing of the order.
TEST(Effort, DoesNotCutBetweenTiedKernels) {
  std::vector<Tactic> some{tactic("k/a", 2), tactic("k/b", 2.03), tactic("k/c", 2),
                           tactic("k/d", 2.05)};
  EXPECT_EQ(ids(some, {.of_a_kind = 2, .of_a_library = 2}), "ac") << "a library's order is its own";
  for (Tactic& t : some) t.source = "kernel";
  EXPECT_EQ(ids(some, {.of_a_kind = 2, .of_a_library = 2}), "abc");
}

}  // namespace
}  // namespace enginery
