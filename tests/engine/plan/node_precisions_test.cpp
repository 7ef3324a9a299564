// What sources are asked for where single nodes have precisions of their own.
#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

// Offers one tactic, which computes in the narrowest precision that it is asked for.
class NarrowestSource final : public TacticSource {
 public:
  SourceTraits traits() const override { return {"narrowest", Trust::may_be_wrong}; }
  Result<std::vector<Tactic>> offer(const Problem& problem,
                                    const std::set<Precision>& allowed) const override {
    Tactic t;
    t.source = "narrowest";
    t.id = to_text_of(allowed);
    t.inputs.assign(problem.inputs.size(), kLinear);
    t.outputs.assign(problem.outputs.size(), kLinear);
    return std::vector<Tactic>{t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::unsupported, "nothing runs in this test"};
  }

 private:
  static std::string to_text_of(const std::set<Precision>& allowed) {
    std::string out;
    for (const Precision p : allowed) out += (out.empty() ? "" : ",") + std::string(to_string(p));
    return out;
  }
};

// "layer=precisions" of each node of the residual block's network: c0, c1+a+r and c2.
std::vector<std::string> asked_for(const std::map<std::string, Precision>& of_nodes) {
  auto graph = parse_graph("graph t {\n" + kResidual + "\n}");
  EXPECT_TRUE(graph.ok() && fuse_vertical(*graph).ok());
  NodePrecisions precisions;
  for (NodeId id = 0; id < graph->node_count(); ++id) {
    const auto found = of_nodes.find(graph->node(id).name);
    if (found != of_nodes.end()) precisions.emplace(id, found->second);
  }
  EXPECT_EQ(precisions.size(), of_nodes.size()) << "the test names nodes that are not there";
  TacticSources sources;
  sources.push_back(std::make_unique<NarrowestSource>());
  const auto network =
      lower(std::move(*graph), sources, {Precision::fp32, Precision::fp16}, precisions);
  EXPECT_TRUE(network.ok());
  std::vector<std::string> out;
  for (const NetworkNode& node : network->nodes) out.push_back(node.tactics[0].id);
  return out;
}

using Texts = std::vector<std::string>;

TEST(NodePrecisions, HoldForTheirNodeAndForNoOther) {
  EXPECT_EQ(asked_for({}), (Texts{"fp32,fp16", "fp32,fp16", "fp32,fp16"}));
  EXPECT_EQ(asked_for({{"c0", Precision::fp32}}), (Texts{"fp32", "fp32,fp16", "fp32,fp16"}));
  EXPECT_EQ(asked_for({{"c2", Precision::bf16}}), (Texts{"fp32,fp16", "fp32,fp16", "fp32,bf16"}));
}

TEST(NodePrecisions, OfAnyMemberHoldForTheWholeGroup) {
  EXPECT_EQ(asked_for({{"r", Precision::fp32}})[1], "fp32");
  EXPECT_EQ(asked_for({{"c1", Precision::bf16}, {"r", Precision::bf16}})[1], "fp32,bf16");
  EXPECT_EQ(asked_for({{"c1", Precision::bf16}, {"r", Precision::fp16}})[1], "fp32")
      << "what they agree on";
}

TEST(NodePrecisions, MakeEqualProblemsDifferentOffers) {
  NetworkNode one, other;
  other.precisions = {Precision::fp32};
  EXPECT_NE(offer_key(one), offer_key(other));
  one.precisions = {Precision::fp32};
  EXPECT_EQ(offer_key(one), offer_key(other));
}

}  // namespace
}  // namespace enginery
