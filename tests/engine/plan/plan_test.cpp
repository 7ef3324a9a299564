// Lowering, planning and memory over a tactic source made for the test: no device is needed.
#include "engine/plan/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/graph/text.h"
#include "engine/passes/fuse_vertical.h"
#include "engine/plan/memory.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

const Format kLinear{DataType::float32, {}};
const Format kNhwc{DataType::float32, {LayoutKind::channels_last, 0}};

// Offers convolutions in nhwc (with a residual in place), views for reshapes, everything else
// linear; refuses what `refuses` says.
class TestSource final : public TacticSource {
 public:
  std::function<bool(const Problem&)> refuses = [](const Problem&) { return false; };

  Trust trust = Trust::may_be_wrong;

  SourceTraits traits() const override { return {"test", trust}; }
  Result<std::vector<Tactic>> offer(const Problem& p, const std::set<Precision>&) const override {
    if (refuses(p)) return Error{ErrorCode::unsupported, "the test refuses"};
    Tactic t;
    t.source = "test";
    t.id = "only";
    bool conv = std::holds_alternative<Convolution>(p.op);
    t.inputs.assign(p.inputs.size(), conv ? kNhwc : kLinear);
    t.outputs.assign(p.outputs.size(), conv ? kNhwc : kLinear);
    if (is_reformat(p)) t.inputs = {*p.inputs[0].pinned}, t.outputs = {*p.outputs[0].pinned};
    if (conv) t.workspace_bytes = 100;
    for (const EpilogueStep& s : p.epilogue) {
      if (s.kind == EpilogueKind::add) t.in_place_operand = s.operand;
    }
    if (std::holds_alternative<Reshape>(p.op)) t.view_of = 0;
    return std::vector<Tactic>{t};
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    return Error{ErrorCode::unsupported, "nothing runs in this test"};
  }
};

struct Fixture {
  TacticSources sources;
  TestSource* source;
  Fixture() {
    auto made = std::make_unique<TestSource>();
    source = made.get();
    sources.push_back(std::move(made));
  }
  Result<Network> lower_text(const std::string& body) {
    auto graph = parse_graph("graph t {\n" + body + "\n}");
    if (!graph) return graph.error();
    auto fused = fuse_vertical(*graph);
    if (!fused) return fused.error();
    return lower(std::move(*graph), sources, {Precision::fp32});
  }
  Result<Plan> plan_text(const std::string& body) {
    TRY(Network network, lower_text(body));
    TRY(Assignment assignment, analytic_choice(network, sources));
    return make_plan(network, assignment);
  }
};

const std::string kConv = "strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1] groups=1";
const std::string kResidual =
    "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %c0 = conv(%x, %w) " +
    kConv + "\n %c1 = conv(%c0, %w) " + kConv +
    "\n %a = binary(%c1, %c0) kind=add\n %r = act(%a) kind=relu\n %c2 = conv(%r, %w) " + kConv +
    "\n output %c2";

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

TEST(Lower, ShortensAGroupToWhatASourceRuns) {
  Fixture f;
  f.source->refuses = [](const Problem& p) { return p.epilogue.size() > 1; };
  auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  EXPECT_EQ(network->nodes.size(), 4u);
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

TEST(Plan, InsertsReformatsWhereFormatsDiffer) {
  Fixture f;
  auto plan = f.plan_text(kResidual);
  ASSERT_TRUE(plan) << plan.error().message;
  int reformats = 0;
  for (const PlanStep& s : plan->steps) reformats += is_reformat(s.problem);
  EXPECT_EQ(reformats, 2);  // the input to nhwc, the output back; none between the convolutions
  EXPECT_EQ(plan->steps.size(), 5u);
}

TEST(Plan, ReusesTheStorageOfADeadInPlaceOperand) {
  Fixture f;
  auto plan = f.plan_text(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %c0 = conv(%x, "
      "%w) " +
      kConv + "\n %c1 = conv(%c0, %w) " + kConv + "\n %c2 = conv(%c1, %w) " + kConv +
      "\n %a = binary(%c2, %c0) kind=add\n %c3 = conv(%a, %w) " + kConv + "\n output %c3");
  ASSERT_TRUE(plan);
  const PlanStep& residual = plan->steps[3];
  ASSERT_GE(residual.tactic.in_place_operand, 0);
  int operand = residual.inputs[static_cast<size_t>(residual.tactic.in_place_operand)];
  EXPECT_EQ(plan->tensors[static_cast<size_t>(operand)].storage,
            plan->tensors[static_cast<size_t>(residual.outputs[0])].storage);
}

TEST(Plan, DoesNotOverwriteAnOperandThatTheSameStepReads) {
  Fixture f;
  auto plan = f.plan_text(kResidual);  // c1 reads c0 as its input and adds it
  ASSERT_TRUE(plan);
  const PlanStep& residual = plan->steps[2];
  int operand = residual.inputs[static_cast<size_t>(residual.tactic.in_place_operand)];
  EXPECT_NE(plan->tensors[static_cast<size_t>(operand)].storage,
            plan->tensors[static_cast<size_t>(residual.outputs[0])].storage);
}

TEST(Plan, DoesNotOverwriteAnOperandThatIsReadLater) {
  Fixture f;
  auto plan = f.plan_text(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %c0 = conv(%x, "
      "%w) " +
      kConv + "\n %c1 = conv(%c0, %w) " + kConv +
      "\n %a = binary(%c1, %c0) kind=add\n %c2 = conv(%c0, %w) " + kConv +
      "\n output %a\n output %c2");
  ASSERT_TRUE(plan) << plan.error().message;
  for (const PlanStep& s : plan->steps) {
    if (s.tactic.in_place_operand < 0) continue;
    int operand = s.inputs[static_cast<size_t>(s.tactic.in_place_operand)];
    EXPECT_NE(plan->tensors[static_cast<size_t>(operand)].storage,
              plan->tensors[static_cast<size_t>(s.outputs[0])].storage);
  }
}

TEST(Plan, LetsTheCallersMemoryHoldOutputs) {
  Fixture f;
  auto plan = f.plan_text("input %x : float32[2x6]\n %y = act(%x) kind=relu\n output %y");
  ASSERT_TRUE(plan);
  const PlanTensor& out = plan->tensors[static_cast<size_t>(plan->outputs[0])];
  EXPECT_EQ(plan->storages[static_cast<size_t>(out.storage)].kind, StorageKind::output);
  EXPECT_EQ(plan->arena_bytes, 0);
}

TEST(Plan, LeavesAnOutputThatIsAViewOfAnInputToTheRuntime) {
  Fixture f;
  auto plan = f.plan_text(
      "input %x : float32[2x6]\n %s = constant int64[2] {3, 4}\n %y = reshape(%x, %s)\n output %y");
  ASSERT_TRUE(plan) << plan.error().message;
  const PlanTensor& out = plan->tensors[static_cast<size_t>(plan->outputs[0])];
  EXPECT_EQ(plan->storages[static_cast<size_t>(out.storage)].kind, StorageKind::input);
}

TEST(PlanMemory, NeverOverlapsLiveStoragesOfRandomPlans) {
  uint64_t seed = 7;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round));
    std::mt19937_64 random(seed + static_cast<uint64_t>(round));
    Plan plan;
    int64_t sum = 0;
    for (int i = 0; i < 20; ++i) {
      plan.storages.push_back(
          {StorageKind::arena, static_cast<int64_t>(random() % 5000 + 1), 0, 0, 0});
      plan.tensors.push_back({"t", {}, {}, i});
      sum += (plan.storages.back().bytes + kArenaAlignment) / kArenaAlignment * kArenaAlignment;
    }
    for (int i = 0; i < 15; ++i) {
      PlanStep step;
      step.inputs = {static_cast<int>(random() % 20), static_cast<int>(random() % 20)};
      step.outputs = {static_cast<int>(random() % 20)};
      plan.steps.push_back(step);
    }
    plan_memory(plan);
    EXPECT_TRUE(check_memory(plan));
    EXPECT_LE(plan.arena_bytes, sum);
  }
}

TEST(CheckMemory, FindsAnOverlap) {
  Plan plan;
  plan.storages = {{StorageKind::arena, 100, 0, 0, 2}, {StorageKind::arena, 100, 64, 1, 3}};
  plan.arena_bytes = 1000;
  EXPECT_FALSE(check_memory(plan));
  plan.storages[1].first_step = 3;
  EXPECT_TRUE(check_memory(plan));
  plan.arena_bytes = 100;
  EXPECT_FALSE(check_memory(plan));
}

}  // namespace
}  // namespace enginery
