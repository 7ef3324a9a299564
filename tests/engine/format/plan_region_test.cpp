// Regions in engine files: what is written is read back, and a file whose operators are wired
// wrongly is refused however valid its signature is.
#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

using Edit = std::function<void(PlanStep&)>;

TensorType four(DataType type = DataType::float32) {
  return {type, {2, 2}};
}

// y = relu(a) - b over the callers' tensors a and b.
Plan difference(const Edit& edit = [](PlanStep&) {}) {
  Plan plan =
      test::one_step_plan(Activation{ActivationKind::relu, 0, 0}, {four(), four()}, {four()});
  Problem& p = plan.steps[0].problem;
  p.anchor_inputs = 1;
  p.rest = {{Binary{BinaryKind::sub}, {2, 1}}};
  p.inner = {four()};
  edit(plan.steps[0]);
  return plan;
}

Result<EngineFile> written_and_read(const Plan& plan) {
  const Manifest manifest = test::manifest_of(plan, "cpu-sse41");
  return read_unsigned_engine(std::make_shared<const Bytes>(test::unsigned_engine(plan, manifest)));
}

TEST(PlanRegion, IsWrittenAndReadBack) {
  const Plan plan = difference();
  const auto read = written_and_read(plan);
  ASSERT_TRUE(read.ok()) << read.error().message;
  const Problem& p = read->plan.steps[0].problem;
  EXPECT_EQ(p.key(), plan.steps[0].problem.key());
  EXPECT_EQ(p.inner, plan.steps[0].problem.inner);
  EXPECT_EQ(p.rest[0].operands, (std::vector<int>{2, 1}));
}

struct WrongWires {
  std::string name;
  Edit edit;
  std::string reason;
};

const WrongWires kWrongWires[] = {
    {"input_out_of_range",
     [](PlanStep& s) {
       s.problem.rest[0].operands = {2, 70};
     },
     "operand 'r68' is none"},
    {"reads_itself",
     [](PlanStep& s) {
       s.problem.rest[0].operands = {2, 3};
     },
     "reads what no earlier one gives"},
    {"cycle",
     [](PlanStep& s) {
       s.problem.rest = {{Binary{BinaryKind::sub}, {2, 4}}, {Activation{}, {3}}};
     },
     "reads what no earlier one gives"},
    {"anchor_unread",
     [](PlanStep& s) {
       s.problem.rest[0].operands = {0, 1};
     },
     "a result that nothing reads"},
    {"operand_missing", [](PlanStep& s) { s.problem.rest[0].operands = {2}; }, "binary"},
    {"operand_absent",
     [](PlanStep& s) {
       s.problem.rest[0].operands = {2, -1};
     },
     "binary"},
    {"result_of_another_type", [](PlanStep& s) { s.problem.rest[0].op = Binary{BinaryKind::less}; },
     "its shape rule gives boolean[2x2]"},
    {"result_of_another_shape",
     [](PlanStep& s) {
       s.problem.rest[0] = {Reduce{ReduceKind::sum, {0}, true}, {2}};
     },
     "its shape rule gives float32[1x2]"},
    {"several_results",
     [](PlanStep& s) {
       s.problem.rest[0] = {Split{0, {1, 1}}, {2}};
     },
     "several results"},
    {"with_an_epilogue",
     [](PlanStep& s) {
       s.problem.epilogue = {{EpilogueKind::activation, {}, -1}};
     },
     "a region with an epilogue"},
    {"with_a_format", [](PlanStep& s) { s.problem.inputs[0].pinned = Format{}; },
     "a region with an epilogue, several outputs or a format"},
    {"too_many_operators",
     [](PlanStep& s) {
       for (int i = 0; i < 65; ++i) s.problem.rest.push_back({Activation{}, {3 + i}});
     },
     "a region's operand 'r64' is none"},
    {"larger_than_any_tensor",
     [](PlanStep& s) {
       s.problem.rest.clear();
       for (int i = 0; i < 60; ++i) s.problem.rest.push_back({Concat{0}, {2 + i, 2 + i}});
     },
     "is larger than 2^40 bytes"},
    {"called_a_view",
     [](PlanStep& s) {
       s.problem.op = Identity{};
       s.tactic.view_of = 0;
     },
     "is called a view and is none"},
};

void PrintTo(const WrongWires& wires, std::ostream* out) {
  *out << wires.name;
}

class PlanRegionWires : public testing::TestWithParam<WrongWires> {};

TEST_P(PlanRegionWires, AreRefused) {
  const auto read = written_and_read(difference(GetParam().edit));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, ErrorCode::untrusted) << read.error().message;
  EXPECT_NE(read.error().message.find(GetParam().reason), std::string::npos)
      << read.error().message;
}

INSTANTIATE_TEST_SUITE_P(Edits, PlanRegionWires, testing::ValuesIn(kWrongWires),
                         [](const auto& tested) { return tested.param.name; });

// A reader from before regions finds a kind of step that it does not know, and refuses the file.
TEST(PlanRegion, StandsAmongTheEpilogueSteps) {
  const Plan plan = difference();
  const std::string file = test::unsigned_engine(plan, test::manifest_of(plan, "cpu-sse41"));
  EXPECT_NE(file.find("then"), std::string::npos);
  EXPECT_NE(file.find("binary(r0 1) kind=sub"), std::string::npos);
}

}  // namespace
}  // namespace enginery
