// What `build --explain` says, and which layers a node's name means.
#include "cli/explain/node_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace enginery {
namespace {

Plan plan_of(const std::vector<std::string>& names) {
  Plan plan;
  for (const std::string& name : names) {
    PlanStep step;
    step.name = name;
    plan.steps.push_back(step);
  }
  return plan;
}

std::string found(const Plan& plan, const std::string& node) {
  const auto layers = layers_of_node(plan, node);
  if (!layers.ok()) return layers.error().message;
  std::string out;
  for (const PlanStep* step : *layers) out += step->name + " ";
  return out;
}

TEST(LayersOfNode, AreTheOneOfTheNameElseThoseThatHoldTheNode) {
  const Plan plan = plan_of({"conv1+relu1", "conv2", "conv2+relu2"});
  EXPECT_EQ(found(plan, "conv1+relu1"), "conv1+relu1 ");
  EXPECT_EQ(found(plan, "relu1"), "conv1+relu1 ");
  EXPECT_EQ(found(plan, "conv2"), "conv2 ") << "the layer itself goes first";
}

TEST(LayersOfNode, RefusesANameThatIsNoPartOfAnyWithTheNearest) {
  const Plan plan = plan_of({"conv1+relu1", "pool"});
  EXPECT_NE(found(plan, "relu2").find("; did you mean relu1?"), std::string::npos)
      << found(plan, "relu2");
  EXPECT_EQ(layers_of_node(plan, "conv").error().code, ErrorCode::not_found)
      << "a part of a name is no node";
}

ExplainedLayer example() {
  ConsideredProblem considered;
  considered.problem = "conv of something";
  ConsideredTactic fast;
  fast.tactic = "a:fast()";
  fast.what = Consideration::measured;
  fast.us = 12.5;
  fast.error = 1e-6;
  ConsideredTactic broken;
  broken.tactic = "a:broken()";
  broken.what = Consideration::failed;
  broken.reason = "compile: no such register";
  ConsideredTactic slow;
  slow.tactic = "a:slow()";
  slow.reason = "behind the first 3; level 3 measures it";
  considered.tactics = {fast, broken, slow};
  considered.refusals = {{"b", "groups"}};
  return {"conv1", "conv", "a:fast()", considered};
}

TEST(ExplainedText, MarksTheEnginesTacticAndGivesEachOtherATimeOrAReason) {
  const std::string text = explained_text({example()}, 0);
  EXPECT_NE(text.find("layer conv1 (conv)"), std::string::npos) << text;
  EXPECT_NE(text.find("*  12.50"), std::string::npos) << text;
  EXPECT_NE(text.find("compile: no such register"), std::string::npos) << text;
  EXPECT_NE(text.find("not measured: behind the first 3"), std::string::npos) << text;
  EXPECT_NE(text.find("refuses: groups"), std::string::npos) << text;
}

TEST(ExplainedJson, HasNullsWhereNothingIsKnown) {
  const Json json = explained_json("conv1", {example()});
  const Json& tactics = json["layers"][0]["tactics"];
  EXPECT_EQ(tactics[0]["chosen"], true);
  EXPECT_EQ(tactics[0]["us"], 12.5);
  EXPECT_EQ(tactics[0]["reason"], nullptr);
  EXPECT_EQ(tactics[1]["state"], "failed");
  EXPECT_EQ(tactics[1]["us"], nullptr);
  EXPECT_EQ(tactics[1]["error"], nullptr);
  EXPECT_EQ(tactics[2]["chosen"], false);
  EXPECT_EQ(json["layers"][0]["refusals"][0]["source"], "b");
}

}  // namespace
}  // namespace enginery
