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
    if (is_reformat(p)) {
      t.inputs = {*p.inputs[0].pinned};
      t.outputs = {*p.outputs[0].pinned};
    }
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
    TRY(TacticSelection selection, analytic_choice(network, sources));
    return make_plan(network, selection);
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

// Kernels load vectors from the start of a storage, so that every one must be aligned.
TEST(PlanMemory, AlignsStoragesOfRandomPlansAndNeverOverlapsLiveOnes) {
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
    for (const Storage& s : plan.storages) EXPECT_EQ(s.offset % kArenaAlignment, 0);
    EXPECT_EQ(plan.arena_bytes % kArenaAlignment, 0);
  }
}

// The whole plan as text: a line a tensor, a storage, a step.
std::string text_of(const Plan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor& t = plan.tensors[i];
    out += "tensor " + std::to_string(i) + " %" + t.name + " " + to_string(t.type) + " " +
           to_string(t.format) + " in " + std::to_string(t.storage) + "\n";
  }
  constexpr const char* kKinds[] = {"arena", "input", "output"};
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const Storage& s = plan.storages[i];
    out += "storage " + std::to_string(i) + " " + kKinds[static_cast<int>(s.kind)] + " " +
           std::to_string(s.offset) + " " + std::to_string(s.bytes) + " bytes, steps " +
           std::to_string(s.first_step) + "-" + std::to_string(s.last_step) + "\n";
  }
  auto list = [](const std::vector<int>& numbers) {
    std::string text;
    for (const int n : numbers) text += " " + (n < 0 ? std::string("-") : std::to_string(n));
    return text;
  };
  for (const PlanStep& s : plan.steps) {
    out += "step " + s.name + ":" + list(s.inputs) + " | constants" + list(s.constants) + " ->" +
           list(s.outputs) + " workspace" + list({s.workspace}) + " stream " +
           std::to_string(s.stream) + "\n";
  }
  return out + "arena " + std::to_string(plan.arena_bytes) + " inputs" + list(plan.inputs) +
         " outputs" + list(plan.outputs) + "\n";
}

// Plans are in engine files, so the same choices must give the same plan. A change of one of these
// texts is a change of every engine: it belongs into the change's description.
TEST(PlanGolden, OfAnActivationNeedsNoArena) {
  EXPECT_EQ(
      text_of(*Fixture().plan_text("input %x : float32[2x6]\n %y = act(%x) kind=relu\n output %y")),
      R"(tensor 0 %x float32[2x6] float32:linear in 0
tensor 1 %y float32[2x6] float32:linear in 1
storage 0 input 0 48 bytes, steps 0-0
storage 1 output 0 48 bytes, steps 0-1
step y: 0 | constants - -> 1 workspace - stream 0
arena 0 inputs 0 outputs 1
)");
}

TEST(PlanGolden, OfAResidualBlockReusesTheArena) {
  EXPECT_EQ(text_of(*Fixture().plan_text(kResidual)),
            R"(tensor 0 %x float32[1x4x5x5] float32:linear in 0
tensor 1 %x float32[1x4x5x5] float32:nhwc in 1
tensor 2 %c0 float32[1x4x5x5] float32:nhwc in 2
tensor 3 %r float32[1x4x5x5] float32:nhwc in 4
tensor 4 %c2 float32[1x4x5x5] float32:nhwc in 6
tensor 5 %c2 float32[1x4x5x5] float32:linear in 8
storage 0 input 0 400 bytes, steps 0-0
storage 1 arena 0 400 bytes, steps 0-1
storage 2 arena 512 400 bytes, steps 1-2
storage 3 arena 1024 100 bytes, steps 1-1
storage 4 arena 0 400 bytes, steps 2-3
storage 5 arena 1024 100 bytes, steps 2-2
storage 6 arena 512 400 bytes, steps 3-4
storage 7 arena 1024 100 bytes, steps 3-3
storage 8 output 0 400 bytes, steps 4-5
step reformat x: 0 | constants - -> 1 workspace - stream 0
step c0: 1 - | constants - 0 -> 2 workspace 3 stream 0
step c1+a+r: 2 - 2 | constants - 0 - -> 3 workspace 5 stream 0
step c2: 3 - | constants - 0 -> 4 workspace 7 stream 0
step reformat c2: 4 | constants - -> 5 workspace - stream 0
arena 1280 inputs 0 outputs 5
)");
}

TEST(PlanGolden, OfBranchesThatRunInParallelSharesNoBytesBetweenThem) {
  Fixture f;
  auto network = f.lower_text(
      "input %x : float32[1x8x4x4]\n %a = act(%x) kind=relu\n %b = act(%a) kind=tanh\n %c = "
      "act(%a) kind=sigmoid\n %d = binary(%b, %c) kind=add\n output %d");
  ASSERT_TRUE(network);
  auto selection = analytic_choice(*network, f.sources);
  ASSERT_TRUE(selection);
  selection->streams = 2;
  EXPECT_EQ(text_of(*make_plan(*network, *selection)),
            R"(tensor 0 %x float32[1x8x4x4] float32:linear in 0
tensor 1 %a float32[1x8x4x4] float32:linear in 1
tensor 2 %b float32[1x8x4x4] float32:linear in 2
tensor 3 %c float32[1x8x4x4] float32:linear in 3
tensor 4 %d float32[1x8x4x4] float32:linear in 4
storage 0 input 0 512 bytes, steps 0-0
storage 1 arena 0 512 bytes, steps 0-2
storage 2 arena 512 512 bytes, steps 1-3
storage 3 arena 1024 512 bytes, steps 2-3
storage 4 output 0 512 bytes, steps 3-4
step a: 0 | constants - -> 1 workspace - stream 0
step b: 1 | constants - -> 2 workspace - stream 0
step c: 1 | constants - -> 3 workspace - stream 1
step d: 2 3 | constants - - -> 4 workspace - stream 0
arena 1536 inputs 0 outputs 4
)");
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
