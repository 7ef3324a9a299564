// Planning: which storages are shared, where reformats stand, and golden plans of small networks.
#include "engine/plan/plan.h"

#include <random>

#include "engine/plan/memory.h"
#include "tests/engine/plan/plan_support.h"

namespace enginery {
namespace {

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
      "input %x : float32[1x8x4x4]\n %a = act(%x) kind=relu\n %b = softmax(%a) axis=1\n"
      "%c = softmax(%a) axis=2\n %d = binary(%b, %c) kind=add\n output %d");
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

TEST(Plan, NamesTheReformatForWhichNoTacticWasChosen) {
  Fixture f;
  auto network = f.lower_text(kResidual);
  ASSERT_TRUE(network);
  auto selection = analytic_choice(*network, f.sources);
  ASSERT_TRUE(selection);
  selection->reformats.clear();
  const auto plan = make_plan(*network, *selection);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::internal);
  EXPECT_EQ(plan.error().message, "no tactic was chosen for the reformat of 'x'");
}

TEST(Plan, StoresAConstantOnceHoweverManyStepsReadIt) {
  const auto plan = Fixture().plan_text(kResidual);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->constants.size(), 1u);
  EXPECT_EQ(plan->weights_bytes(), 4 * 4 * 3 * 3 * 4);
}

TEST(Plan, ChangesAFormatOnceForAllReaders) {
  // Both convolutions want x in nhwc.
  const auto plan = Fixture().plan_text(
      "input %x : float32[1x4x5x5]\n %w = constant float32[4x4x3x3] random(1)\n %a = conv(%x, "
      "%w) " +
      kConv + "\n %b = conv(%x, %w) " + kConv + "\n output %a\n output %b");
  ASSERT_TRUE(plan);
  int of_x = 0;
  for (const PlanStep& s : plan->steps) of_x += s.name == "reformat x";
  EXPECT_EQ(of_x, 1);
}

// The view's storage is the caller's; what reads it later must not take it over.
TEST(Plan, AViewKeepsItsSourceAlive) {
  const auto plan = Fixture().plan_text(
      "input %x : float32[2x6]\n %s = constant int64[2] {3, 4}\n %a = act(%x) kind=relu\n %v = "
      "reshape(%a, %s)\n %b = act(%a) kind=tanh\n %c = act(%v) kind=tanh\n output %b\n output %c");
  ASSERT_TRUE(plan);
  const auto storage_of = [&](const std::string& name) -> const Storage& {
    for (const PlanTensor& t : plan->tensors) {
      if (t.name == name) return plan->storages[static_cast<size_t>(t.storage)];
    }
    ADD_FAILURE() << name;
    return plan->storages[0];
  };
  EXPECT_EQ(&storage_of("v"), &storage_of("a"));
  EXPECT_EQ(storage_of("a").last_step, 3);  // until the step that reads the view
}

TEST(Plan, TwoOutputsOfOneValueAreTwoBuffers) {
  const auto plan = Fixture().plan_text(
      "input %x : float32[2x6]\n %y = act(%x) kind=relu\n output %y\n output %y");
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->outputs.size(), 2u);
  const auto storage = [&](int output) {
    return plan->tensors[static_cast<size_t>(output)].storage;
  };
  EXPECT_NE(storage(plan->outputs[0]), storage(plan->outputs[1]));
}

}  // namespace
}  // namespace enginery
