// Shapes are inferred again when a plan is read: kernels divide, index and stride by attributes and
// dims, so an engine whose sizes contradict its operators' shape rules is refused however valid its
// signature is.
#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

TensorType floats(Dims dims) {
  return {DataType::float32, std::move(dims)};
}

Status load(const Plan& plan) {
  const Manifest manifest = test::manifest_of(plan, "cpu-sse41");
  const auto engine =
      read_unsigned_engine(std::make_shared<const Bytes>(test::unsigned_engine(plan, manifest)));
  return engine.ok() ? Status() : Status(engine.error());
}

void expect_refused(const Plan& plan, const std::string& reason) {
  const Status loaded = load(plan);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::untrusted) << loaded.error().message;
  EXPECT_NE(loaded.error().message.find(reason), std::string::npos) << loaded.error().message;
}

struct WrongShapes {
  std::string name;
  Op op;
  std::vector<TensorType> inputs, outputs;
  std::string reason;
};

Convolution convolution(std::vector<int64_t> strides, std::vector<int64_t> pads, int64_t groups) {
  return {std::move(strides), {1, 1}, pads, pads, groups};
}

Pooling pooling(std::vector<int64_t> kernel) {
  Pooling op;
  op.kernel = std::move(kernel);
  op.strides = op.dilations = {1, 1};
  op.pads_begin = op.pads_end = {0, 0};
  return op;
}

const int64_t kFar = int64_t{1} << 40;

const WrongShapes kWrongShapes[] = {
    {"permutation_far_away",
     Transpose{{1, 0, kFar}},
     {floats({2, 3, 4})},
     {floats({3, 2, 4})},
     "transpose"},
    {"permutation_reversed",
     Transpose{},
     {floats({2, 3, 4})},
     {floats({2, 3, 4})},
     "its shape rule gives float32[4x3x2]"},
    {"concat_axis_far_away",
     Concat{kFar},
     {floats({2, 3}), floats({2, 3})},
     {floats({4, 3})},
     "axis 1099511627776"},
    {"concat_too_short",
     Concat{0},
     {floats({2, 3}), floats({2, 3})},
     {floats({3, 3})},
     "its shape rule gives float32[4x3]"},
    {"split_sizes",
     Split{0, {3, 3}},
     {floats({4, 3})},
     {floats({3, 3}), floats({3, 3})},
     "do not add up"},
    {"split_outputs",
     Split{0, {2, 2}},
     {floats({4, 3})},
     {floats({2, 3})},
     "a wrong number of outputs"},
    {"stride_zero",
     convolution({0, 1}, {0, 0}, 1),
     {floats({1, 4, 5, 5}), floats({4, 4, 1, 1})},
     {floats({1, 4, 5, 5})},
     "strides"},
    {"stride_missing",
     convolution({1}, {0, 0}, 1),
     {floats({1, 4, 5, 5}), floats({4, 4, 1, 1})},
     {floats({1, 4, 5, 5})},
     "strides"},
    {"padding_far_away",
     convolution({1, 1}, {kFar, 0}, 1),
     {floats({1, 4, 5, 5}), floats({4, 4, 1, 1})},
     {floats({1, 4, 5, 5})},
     "pads_begin"},
    {"groups_zero",
     convolution({1, 1}, {0, 0}, 0),
     {floats({1, 4, 5, 5}), floats({4, 4, 1, 1})},
     {floats({1, 4, 5, 5})},
     "groups"},
    {"filter_of_other_channels",
     convolution({1, 1}, {0, 0}, 1),
     {floats({1, 4, 5, 5}), floats({4, 3, 1, 1})},
     {floats({1, 4, 5, 5})},
     "conv"},
    {"window_too_large",
     pooling({6, 1}),
     {floats({1, 4, 5, 5})},
     {floats({1, 4, 5, 5})},
     "does not fit"},
    {"inner_sizes_differ", MatMul{}, {floats({2, 3}), floats({4, 5})}, {floats({2, 5})}, "inner"},
    {"result_of_another_type",
     Activation{},
     {floats({2})},
     {{DataType::int32, {2}}},
     "its shape rule gives float32[2]"},
    {"softmax_axis", Softmax{2}, {floats({2, 3})}, {floats({2, 3})}, "axis 2"},
    {"identity_that_grows",
     Identity{},
     {floats({2, 3})},
     {floats({2, 4})},
     "its shape rule gives float32[2x3]"},
    {"run_time_sizes",
     Reshape{},
     {floats({2, 3}), {DataType::int64, {2}}},
     {floats({3, 2})},
     "its shape rule gives float32[?x?]"},
};

void PrintTo(const WrongShapes& shapes, std::ostream* out) {
  *out << shapes.name;
}

class PlanShapes : public testing::TestWithParam<WrongShapes> {};

TEST_P(PlanShapes, AreInferredAgain) {
  const WrongShapes& wrong = GetParam();
  expect_refused(test::one_step_plan(wrong.op, wrong.inputs, wrong.outputs), wrong.reason);
}

INSTANTIATE_TEST_SUITE_P(Operators, PlanShapes, testing::ValuesIn(kWrongShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST(PlanShape, ThatIsRightIsRead) {
  const Status loaded =
      load(test::one_step_plan(Transpose{{1, 0}}, {floats({2, 3})}, {floats({3, 2})}));
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
}

TEST(PlanShape, OfTooManyDimensionsIsRefused) {
  expect_refused(test::one_step_plan(Identity{}, {floats(Dims(65, 1))}, {floats(Dims(65, 1))}),
                 "a tensor of too many dimensions");
}

// What follows the anchor: (kind, the operand's type) on a float32[2x3].
struct WrongEpilogue {
  std::string name;
  EpilogueKind kind;
  TensorType operand;
  std::string reason;
};

const WrongEpilogue kWrongEpilogues[] = {
    {"sum_that_grows", EpilogueKind::add, floats({4, 2, 3}), "its shape rule gives float32[4x2x3]"},
    {"sum_that_does_not_broadcast", EpilogueKind::add, floats({2, 2}), "broadcast"},
    {"factor_of_another_type", EpilogueKind::multiply, {DataType::int32, {2, 3}}, "one type"},
    {"bias_that_is_computed", EpilogueKind::bias, floats({3}),
     "a bias that is not one number a channel"},
};

void PrintTo(const WrongEpilogue& epilogue, std::ostream* out) {
  *out << epilogue.name;
}

class PlanEpilogue : public testing::TestWithParam<WrongEpilogue> {};

TEST_P(PlanEpilogue, KeepsTheAnchorsType) {
  const WrongEpilogue& wrong = GetParam();
  Plan plan = test::one_step_plan(Activation{}, {floats({2, 3}), wrong.operand}, {floats({2, 3})});
  plan.steps[0].problem.anchor_inputs = 1;
  plan.steps[0].problem.epilogue = {{wrong.kind, {}, 1}};
  expect_refused(plan, wrong.reason);
}

INSTANTIATE_TEST_SUITE_P(Steps, PlanEpilogue, testing::ValuesIn(kWrongEpilogues),
                         [](const auto& tested) { return tested.param.name; });

TEST(PlanEpilogue, ReadsNoInputOfItsAnchor) {
  Plan plan = test::one_step_plan(Activation{}, {floats({2, 3})}, {floats({2, 3})});
  plan.steps[0].problem.epilogue = {{EpilogueKind::add, {}, 0}};
  expect_refused(plan, "an epilogue step's operand is not its own");
}

// A reshape to the dims that its constant holds; the copy of them that selects code is another.
TEST(PlanConstant, IsTheValueThatSelectsCode) {
  Plan plan =
      test::one_step_plan(Reshape{}, {floats({2, 3}), {DataType::int64, {2}}}, {floats({3, 2})});
  PlanStep& step = plan.steps[0];
  plan.constants = {{"shape", Tensor::of<int64_t>({2}, {3, 2})}};
  plan.inputs.pop_back();
  plan.storages.erase(plan.storages.begin() + 1);
  plan.tensors.erase(plan.tensors.begin() + 1);
  plan.tensors[1].storage = 1;
  plan.outputs = step.outputs = {1};
  step.inputs[1] = -1;
  step.constants[1] = 0;
  step.problem.inputs[1].constant = true;
  step.problem.inputs[1].value = Tensor::of<int64_t>({2}, {1 << 20, 1 << 20});
  const Bytes file = test::unsigned_engine(plan, test::manifest_of(plan, "cpu-sse41"));
  const auto engine = read_unsigned_engine(std::make_shared<const Bytes>(file));
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(to_int64s(*engine->plan.steps[0].problem.inputs[1].value),
            (std::vector<int64_t>{3, 2}));
  plan.constants[0].tensor = Tensor::of<int64_t>({2}, {6, 1});
  expect_refused(plan, "its shape rule gives float32[6x1]");
}

TEST(EngineManifest, PromisesWhatThePlanHas) {
  const Plan plan = test::small_plan();
  const std::pair<std::string, std::function<void(Manifest&)>> edits[] = {
      {"inputs", [](Manifest& m) { m.inputs[0].type.dims[0] = 2; }},
      {"inputs", [](Manifest& m) { m.inputs[0].name = "z"; }},
      {"outputs", [](Manifest& m) { m.outputs.clear(); }},
      {"outputs", [](Manifest& m) { m.outputs.push_back(m.outputs[0]); }},
      {"outputs", [](Manifest& m) { m.outputs[0].type.type = DataType::float64; }},
  };
  for (const auto& [what, edit] : edits) {
    Manifest manifest = test::small_manifest();
    edit(manifest);
    const auto engine =
        read_unsigned_engine(std::make_shared<const Bytes>(test::unsigned_engine(plan, manifest)));
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
    EXPECT_EQ(engine.error().message,
              "engine file: the manifest's " + what + " are not the plan's");
  }
}

}  // namespace
}  // namespace enginery
