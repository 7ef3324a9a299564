// How a network is cut: the pure choice by times, and the tuner with sources of which one serves a
// fused pair and another only its halves.
#include "tuner/cover.h"

#include "engine/tactics/problem.h"
#include "tests/tuner/fake_tactics.h"

namespace enginery {
namespace {

using test::TestDevice;

NetworkNode node_of(const std::string& name) {
  NetworkNode out;
  out.name = name;
  return out;
}

// Four nodes a b c d.
Network four_nodes() {
  Network out;
  for (const char* name : {"a", "b", "c", "d"}) out.nodes.push_back(node_of(name));
  return out;
}

// The cost of a node is the number that its name has in `us`.
Cover cover_of(const Network& network, const std::map<std::string, double>& us) {
  return choose_cover(network, [&](const NetworkNode& node) { return us.at(node.name); });
}

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(ChooseCover, TakesWhatIsFasterThanWhatItReplaces) {
  Network network = four_nodes();
  network.alternatives = {{{0}, {node_of("x"), node_of("y")}}, {{2, 3}, {node_of("z")}}};
  const std::map<std::string, double> us = {{"a", 9}, {"b", 1}, {"c", 2}, {"d", 2},
                                            {"x", 4}, {"y", 4}, {"z", 5}};
  EXPECT_EQ(cover_of(network, us), Cover{0});
}

TEST(ChooseCover, TakesNothingThatIsNotConsidered) {
  Network network = four_nodes();
  network.alternatives = {{{0}, {node_of("x")}}, {{1}, {node_of("y")}}};
  const std::map<std::string, double> us = {{"a", 9}, {"b", 9}, {"x", 1}, {"y", 2}};
  const Cover cover = choose_cover(
      network, [&](const NetworkNode& node) { return us.at(node.name); },
      [](const Alternative& a) { return a.instead[0].name == "y"; });
  EXPECT_EQ(cover, Cover{1});
}

TEST(ChooseCover, LeavesTheNetworkWhereNothingIsGained) {
  Network network = four_nodes();
  network.alternatives = {{{0}, {node_of("x")}}};
  EXPECT_EQ(cover_of(network, {{"a", 4}, {"x", 4}}), Cover());
  EXPECT_EQ(cover_of(network, {{"a", 4}, {"x", kNever}}), Cover());
  EXPECT_EQ(cover_of(network, {{"a", kNever}, {"x", kNever}}), Cover());
}

TEST(ChooseCover, TakesWhatRunsInPlaceOfWhatDoesNot) {
  Network network = four_nodes();
  network.alternatives = {{{1}, {node_of("x")}}};
  EXPECT_EQ(cover_of(network, {{"b", kNever}, {"x", 100}}), Cover{0});
}

TEST(ChooseCover, TakesTheLargerGainWhereTwoReplaceOneNode) {
  Network network = four_nodes();
  network.alternatives = {
      {{0, 1}, {node_of("x")}}, {{1, 2}, {node_of("y")}}, {{3}, {node_of("z")}}};
  const std::map<std::string, double> us = {{"a", 5}, {"b", 5}, {"c", 5}, {"d", 5},
                                            {"x", 8}, {"y", 3}, {"z", 4}};
  EXPECT_EQ(cover_of(network, us), (Cover{1, 2}));
}

TEST(NetworkCut, PutsAnAlternativeWhereTheLastThatItReplacesStood) {
  Network network = four_nodes();
  network.alternatives = {{{0, 2}, {node_of("x"), node_of("y")}}};
  const auto cut = network.cut({0});
  ASSERT_TRUE(cut.ok());
  std::string names;
  for (const NetworkNode& node : cut->nodes) names += node.name;
  EXPECT_EQ(names, "bxyd");
  EXPECT_TRUE(cut->alternatives.empty());
}

TEST(NetworkCut, PutsOneThatLeadsWhereTheFirstThatItReplacesStood) {
  Network network = four_nodes();
  network.alternatives = {{{1, 3}, {node_of("x"), node_of("y")}, true}};
  const auto cut = network.cut({0});
  ASSERT_TRUE(cut.ok());
  std::string names;
  for (const NetworkNode& node : cut->nodes) names += node.name;
  EXPECT_EQ(names, "axyc");
}

TEST(NetworkCut, RefusesTheCoverOfAnotherNetwork) {
  Network network = four_nodes();
  network.alternatives = {{{0, 1}, {node_of("x")}}, {{1}, {node_of("y")}}};
  for (const Cover& cover : {Cover{2}, Cover{0, 1}, Cover{0, 0}})
    EXPECT_EQ(network.cut(cover).error().code, ErrorCode::incompatible);
  EXPECT_TRUE(network.cut({}).ok());
}

// Runs chains of activations of the lengths that it has a time for.
class ChainSource final : public TacticSource {
 public:
  ChainSource(TestDevice& device, std::string name, std::map<size_t, double> us,
              std::map<size_t, double> estimates = {})
      : device_(device),
        name_(std::move(name)),
        us_(std::move(us)),
        estimates_(std::move(estimates)) {}
  SourceTraits traits() const override { return {name_, Trust::may_be_wrong, false}; }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    if (!us_.contains(p.epilogue.size() + 1)) return Error{ErrorCode::unsupported, "that length"};
    Tactic tactic;
    tactic.source = name_;
    tactic.id = "chain";
    const auto estimate = estimates_.find(p.epilogue.size() + 1);
    if (estimate != estimates_.end()) tactic.estimated_us = estimate->second;
    tactic.inputs.resize(p.inputs.size());
    tactic.outputs.resize(p.outputs.size());
    return std::vector<Tactic>{tactic};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem& p, const Tactic&,
                                                        Weights) const override {
    const double us = us_.at(p.epilogue.size() + 1);
    if (us == kNever) return Error{ErrorCode::unsupported, "it does not compile"};
    return std::shared_ptr<const PreparedTactic>(std::make_shared<Prepared>(device_, p, us));
  }

 private:
  class Prepared final : public PreparedTactic {
   public:
    Prepared(TestDevice& device, Problem problem, double us)
        : device_(device), problem_(std::move(problem)), us_(us) {}
    Status enqueue(Stream&, const Arguments& a) const override {
      device_.elapsed_us += us_;
      const auto* in = static_cast<const float*>(a.inputs[0]);
      auto* out = static_cast<float*>(a.outputs[0]);
      const auto* activation = std::get_if<Activation>(&problem_.op);  // not in the tuner's probe
      for (int64_t i = 0; i < volume(output_dims(problem_)); ++i) {
        out[i] = activation ? activate(*activation, in[i]) : in[i];
        for (const EpilogueStep& step : problem_.epilogue)
          out[i] = activate(step.activation, out[i]);
      }
      return {};
    }
    int64_t weight_bytes() const override { return 0; }
    int64_t workspace_bytes() const override { return 0; }

   private:
    TestDevice& device_;
    const Problem problem_;
    const double us_;
  };

  TestDevice& device_;
  const std::string name_;
  const std::map<size_t, double> us_, estimates_;
};

// A pair of activations in one group: "whole" runs it in one, "halves" only each by itself.
struct Pair {
  TestDevice device;
  TacticSources sources;
  MemoryTimingStore store;
  Network network;

  // The estimates of one and of a half; 0: none.
  Pair(double whole_us, double half_us, double whole_estimate = 0, double half_estimate = 0) {
    using Times = std::map<size_t, double>;
    sources.push_back(std::make_unique<ChainSource>(device, "whole", Times{{1, 100}, {2, whole_us}},
                                                    Times{{1, 100}, {2, whole_estimate}}));
    sources.push_back(std::make_unique<ChainSource>(device, "halves", Times{{1, half_us}},
                                                    Times{{1, half_estimate}}));
    Graph graph = *parse_graph(
        "graph t { input %x : float32[1x4x8x8]\n %a = act(%x) kind=relu\n %b = act(%a) kind=tanh\n "
        "output %b }");
    for (NodeId id = 0; id < graph.node_count(); ++id) graph.node(id).group = 0;
    network = *lower(std::move(graph), sources, {Precision::fp32});
  }
  TacticSelection select(int level = kDefaultLevel) {
    TunerOptions options;
    options.level = level;
    Tuner tuner(device, sources, store, options);
    auto out = tuner.select(network);
    EXPECT_TRUE(out.ok()) << out.error().message;
    EXPECT_EQ(tuner.node_us().size(), out->tactics.size());
    return *out;
  }
};

TEST(Cover, FusesWhereThatIsFaster) {
  Pair pair(12, 10);
  ASSERT_EQ(pair.network.nodes.size(), 1u);
  ASSERT_EQ(pair.network.alternatives.size(), 1u);
  const TacticSelection chosen = pair.select();
  EXPECT_EQ(chosen.cover, Cover());
  ASSERT_EQ(chosen.tactics.size(), 1u);
  EXPECT_EQ(chosen.tactics[0].source, "whole");
}

TEST(Cover, CutsWhereThatIsFaster) {
  Pair pair(30, 10);
  const TacticSelection chosen = pair.select();
  EXPECT_EQ(chosen.cover, Cover{0});
  ASSERT_EQ(chosen.tactics.size(), 2u);
  for (const Tactic& tactic : chosen.tactics) EXPECT_EQ(tactic.source, "halves");
  const auto plan = make_plan(pair.network, chosen);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->steps.size(), 2u);
}

// What is 1.6 times slower by its estimates is not measured, unless nothing else runs.
TEST(Cover, IsNotMeasuredWhereTheEstimatesSpeakAgainstIt) {
  Pair hopeless(30, 10, 10, 8), close(30, 10, 10, 7);
  EXPECT_EQ(hopeless.select().cover, Cover());
  EXPECT_EQ(close.select().cover, Cover{0});
  EXPECT_EQ(hopeless.select(kDefaultLevel + 1).cover, Cover{0});
  Pair broken(kNever, 10, 10, 8);
  EXPECT_EQ(broken.select().cover, Cover{0});
}

// Below the level that measures alternatives a network is cut as lowering proposes.
TEST(Cover, IsNoQuestionOfALowLevel) {
  Pair pair(30, 10);
  EXPECT_EQ(pair.select(kCoverLevel - 1).cover, Cover());
}

// What the store knows decides the same again, and nothing is measured.
TEST(Cover, IsChosenAgainFromTheStore) {
  Pair pair(30, 10);
  pair.select();
  const int timed = pair.device.timed;
  EXPECT_EQ(pair.select().cover, Cover{0});
  EXPECT_EQ(pair.device.timed, timed);
}

}  // namespace
}  // namespace enginery
