// Lowering: what becomes one problem, what a source's refusal does to a group, and which tactics
// and reformats are asked for.
#include "engine/plan/network.h"

#include <algorithm>

#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

TEST(Lower, KeepsAGroupThatASourceRuns) {
  Fixture f;
  auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(network->nodes.size(), 3u);
  const Problem& p = network->nodes[1].problem;
  ASSERT_EQ(p.epilogue.size(), 2u);
  EXPECT_EQ(p.epilogue[0].kind, EpilogueKind::add);
  EXPECT_EQ(p.epilogue[1].activation.kind, ActivationKind::relu);
}

TEST(Lower, MultipliesByWhatAProductTakesIn) {
  Fixture f;
  std::string gate = kResidual;
  gate.replace(gate.find("kind=add"), 8, "kind=mul");
  auto network = f.lower_text(gate);
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(network->nodes.size(), 3u);
  EXPECT_EQ(network->nodes[1].problem.epilogue[0].kind, EpilogueKind::multiply);
}

TEST(Lower, ShortensAGroupToWhatASourceRuns) {
  Fixture f;
  f.source->refuses = [](const Problem& p) { return p.epilogue.size() > 1; };
  auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  EXPECT_EQ(network->nodes.size(), 4u);
}

// A source that cannot run the last step stays in the race: the group may be cut before it.
TEST(Lower, ProposesToCutWhereAnotherSourceCanBegin) {
  Fixture f;
  auto second = std::make_unique<TestSource>();
  second->name = "second";
  second->refuses = [](const Problem& p) { return p.epilogue.size() > 1; };
  f.sources.push_back(std::move(second));
  const auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  ASSERT_EQ(network->alternatives.size(), 1u);
  const Alternative& cut = network->alternatives[0];
  EXPECT_EQ(cut.replaces, std::vector<size_t>{1});
  ASSERT_EQ(cut.instead.size(), 2u);
  EXPECT_EQ(cut.instead[0].problem.epilogue.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<Activation>(cut.instead[1].problem.op));
  EXPECT_EQ(cut.instead[1].inputs[0], cut.instead[0].outputs[0]);
  EXPECT_EQ(cut.instead[1].outputs, network->nodes[1].outputs);
}

TEST(Lower, ProposesNoCutThatLetsNobodyIn) {
  Fixture f;
  f.sources.push_back(std::make_unique<TestSource>());
  EXPECT_TRUE(f.lower_text(kResidual)->alternatives.empty());
}

// The reference runs any chain, but one node at a time it leaves room for faster sources.
TEST(Lower, ExpandsAGroupThatOnlyTheReferenceRuns) {
  Fixture f;
  const size_t fused = f.lower_text(kResidual)->nodes.size();
  f.source->trust = Trust::reference;
  auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  EXPECT_GT(network->nodes.size(), fused);
  for (const NetworkNode& node : network->nodes) EXPECT_TRUE(node.problem.epilogue.empty());
}

TEST(OfferAll, GivesEachTacticItsSourcesTrust) {
  Fixture f;
  for (const Trust trust : {Trust::reference, Trust::may_be_wrong, Trust::may_fault}) {
    f.source->trust = trust;
    auto network = f.lower_text("input %x : float32[2x3]\n %y = act(%x) kind=relu\n output %y");
    ASSERT_TRUE(network);
    EXPECT_EQ(network->nodes[0].tactics[0].trust, trust);
  }
}

// The test's source keeps everything in float32: narrow types gain digits, float64 would lose them.
TEST(OfferAll, KeepsNoFloat64InANarrowerFormat) {
  Fixture f;
  const auto lowered = [&](const std::string& type) {
    return f.lower_text("input %x : " + type + "[2x3]\n %y = act(%x) kind=relu\n output %y");
  };
  EXPECT_TRUE(lowered("float16").ok());
  const auto wide = lowered("float64");
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().message,
            "node 'y' (act): no tactic source can run it (test: float64 would be rounded to "
            "float32)");
}

TEST(Lower, NamesTheNodeThatNothingRuns) {
  Fixture f;
  f.source->refuses = [](const Problem& p) { return std::holds_alternative<Convolution>(p.op); };
  auto network = f.lower_text(kResidual);
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().code, ErrorCode::unsupported);
  EXPECT_NE(network.error().message.find("the test refuses"), std::string::npos);
}

TEST(Lower, RecognisesABiasAmongAdditions) {
  Fixture f;
  auto network = f.lower_text(
      "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %b = constant float32[4] "
      "random(2)\n"
      "%y = matmul(%x, %w)\n %z = binary(%y, %b) kind=add\n output %z");
  ASSERT_TRUE(network);
  ASSERT_EQ(network->nodes.size(), 1u);
  EXPECT_EQ(network->nodes[0].problem.epilogue[0].kind, EpilogueKind::bias);
}

TEST(Lower, RefusesRunTimeSizes) {
  Fixture f;
  EXPECT_EQ(
      f.lower_text("input %x : float32[Nx3]\n %y = act(%x) kind=relu\n output %y").error().code,
      ErrorCode::invalid_argument);
}

TEST(Lower, SaysWhyEachSourceRefuses) {
  Fixture f;
  auto second = std::make_unique<TestSource>();
  second->refuses = f.source->refuses = [](const Problem&) { return true; };
  f.sources.push_back(std::move(second));
  const auto network = f.lower_text("input %x : float32[2]\n %y = act(%x) kind=relu\n output %y");
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().message,
            "node 'y' (act): no tactic source can run it (test: the test refuses; test: the test "
            "refuses)");
}

// A bias is one number a channel and nothing else: another addition is read from its own tensor.
TEST(Lower, TakesOtherAdditionsForNoBias) {
  for (const std::string operand :
       {"float32[1x1] {2}", "float32[2x1] {1, 2}", "float32[2x4] fill(1)", "float32[1] {3}"}) {
    Fixture f;
    const auto network = f.lower_text(
        "input %x : float32[2x3]\n %w = constant float32[3x4] random(1)\n %b = constant " +
        operand + "\n %y = matmul(%x, %w)\n %z = binary(%y, %b) kind=add\n output %z");
    ASSERT_TRUE(network);
    EXPECT_EQ(network->nodes[0].problem.epilogue[0].kind, EpilogueKind::add) << operand;
  }
}

TEST(Lower, KeysSmallIntegersByTheirValueAndWeightsByTheirTypeAlone) {
  Fixture f;
  const auto network = f.lower_text(
      "input %x : float32[4x4]\n %i = constant int64[2] {1, 3}\n %w = constant float32[4] "
      "random(1)\n %g = gather(%x, %i)\n %y = binary(%g, %w) kind=mul\n output %y");
  ASSERT_TRUE(network);
  EXPECT_TRUE(network->nodes[0].problem.inputs[1].value.has_value());
  EXPECT_TRUE(network->nodes[1].problem.inputs[1].constant);
  EXPECT_FALSE(network->nodes[1].problem.inputs[1].value.has_value());
}

TEST(Lower, AnOutputThatIsAnInputOrAConstantIsCopied) {
  Fixture f;
  const auto network = f.lower_text(
      "input %x : float32[2]\n %c = constant float32[2] {1, 2}\n output %x\n output %c");
  ASSERT_TRUE(network) << network.error().message;
  ASSERT_EQ(network->nodes.size(), 2u);
  for (const NetworkNode& node : network->nodes)
    EXPECT_TRUE(std::holds_alternative<Identity>(node.problem.op));
  EXPECT_EQ(network->graph.value(network->graph.outputs()[0]).name, "x");
}

TEST(Network, GivesTheWeightsOfConstantInputsOnly) {
  Fixture f;
  const auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  const auto weights = network->weights(network->nodes[0]);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0], nullptr);
  ASSERT_NE(weights[1], nullptr);
  EXPECT_EQ(weights[1]->dims(), (Dims{4, 4, 3, 3}));
}

TEST(FindSource, GivesTheFirstOfThatNameOrNone) {
  Fixture f;
  EXPECT_EQ(find_source(f.sources, "test"), f.source);
  EXPECT_EQ(find_source(f.sources, "cudnn"), nullptr);
}

TEST(NeededReformats, NameEachChangeOnceInAscendingOrder) {
  Fixture f;
  const auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  std::vector<Tactic> tactics;
  for (const NetworkNode& node : network->nodes) tactics.push_back(node.tactics[0]);
  const std::vector<ReformatKey> needed = needed_reformats(*network, tactics);
  ASSERT_EQ(needed.size(), 2u);
  EXPECT_TRUE(std::is_sorted(needed.begin(), needed.end()));
  EXPECT_EQ(needed[0].to, kNhwc);    // of the input
  EXPECT_EQ(needed[1].from, kNhwc);  // of the output
}

TEST(NeededReformats, NoneBetweenFormatsThatPlaceTheElementsAlike) {
  // One channel: nhwc and linear are the same bytes.
  Fixture f;
  const auto network = f.lower_text(
      "input %x : float32[1x1x5x5]\n %w = constant float32[1x1x3x3] random(1)\n %c = conv(%x, "
      "%w) " +
      kConv + "\n output %c");
  ASSERT_TRUE(network);
  EXPECT_TRUE(needed_reformats(*network, {network->nodes[0].tactics[0]}).empty());
}

TEST(CompleteReformats, SaysWhichChangeNothingCanMake) {
  Fixture f;
  const auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  TacticSelection selection;
  for (const NetworkNode& node : network->nodes) selection.tactics.push_back(node.tactics[0]);
  f.source->refuses = [](const Problem& p) { return is_reformat(p); };
  const Status status = complete_reformats(*network, f.sources, selection);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(status.error().message.starts_with(
      "reformat of 'x' from float32:linear to float32:nhwc: no tactic source can run it"))
      << status.error().message;
}

TEST(CompleteReformats, KeepsWhatTheSelectionHasAlready) {
  Fixture f;
  const auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  TacticSelection selection;
  for (const NetworkNode& node : network->nodes) selection.tactics.push_back(node.tactics[0]);
  const ReformatKey first = needed_reformats(*network, selection.tactics)[0];
  Tactic own;
  own.id = "mine";
  selection.reformats.emplace(first, own);
  ASSERT_TRUE(complete_reformats(*network, f.sources, selection).ok());
  EXPECT_EQ(selection.reformats.size(), 2u);
  EXPECT_EQ(selection.reformats.at(first).id, "mine");
}

}  // namespace
}  // namespace enginery
