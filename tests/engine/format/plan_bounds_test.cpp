// Every bound that reading a plan checks: a file may be signed and still be wrong, and what is read
// is executed without looking back. Each case breaks one thing in a plan that is right.
#include <gtest/gtest.h>

#include <functional>

#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

struct BrokenPlan {
  std::string name;
  std::function<void(Plan&)> breaks;
  std::string reason;  // what the message says
};

EpilogueStep addition(int operand) {
  return {EpilogueKind::add, {}, operand};
}

// Steps: 0 changes the format of x (storage 3 is its workspace), 1 is a convolution with constant
// 0.
const BrokenPlan kBrokenPlans[] = {
    {"operand_is_inputs", [](Plan& p) { p.steps[1].problem.epilogue.push_back(addition(3)); },
     "an epilogue step's operand is out of range"},
    {"operand_missing", [](Plan& p) { p.steps[1].problem.epilogue.push_back(addition(-1)); },
     "an epilogue step's operand is out of range"},
    {"activation_operand_is_inputs", [](Plan& p) { p.steps[1].problem.epilogue[0].operand = 3; },
     "an epilogue step's operand is out of range"},
    {"anchor_inputs_above", [](Plan& p) { p.steps[1].problem.anchor_inputs = 4; },
     "a problem's inputs are out of range"},
    {"anchor_inputs_negative", [](Plan& p) { p.steps[1].problem.anchor_inputs = -1; },
     "a problem's inputs are out of range"},
    {"no_outputs", [](Plan& p) { p.steps[1].problem.outputs.clear(); },
     "a problem's inputs are out of range"},
    {"input_above", [](Plan& p) { p.steps[0].inputs[0] = 3; }, "is wired wrongly"},
    {"input_below", [](Plan& p) { p.steps[0].inputs[0] = -2; }, "is wired wrongly"},
    {"constant_above", [](Plan& p) { p.steps[1].constants[1] = 1; }, "is wired wrongly"},
    {"constant_below", [](Plan& p) { p.steps[1].constants[1] = -2; }, "is wired wrongly"},
    {"output_above", [](Plan& p) { p.steps[1].outputs[0] = 3; }, "is wired wrongly"},
    {"output_missing", [](Plan& p) { p.steps[1].outputs[0] = -1; }, "is wired wrongly"},
    {"too_few_inputs", [](Plan& p) { p.steps[1].inputs.pop_back(); }, "is wired wrongly"},
    {"too_few_constants", [](Plan& p) { p.steps[1].constants.pop_back(); }, "is wired wrongly"},
    {"too_few_formats", [](Plan& p) { p.steps[1].tactic.inputs.pop_back(); }, "is wired wrongly"},
    {"too_many_outputs", [](Plan& p) { p.steps[1].outputs.push_back(2); }, "is wired wrongly"},
    {"view_of_above", [](Plan& p) { p.steps[1].tactic.view_of = 3; },
     "shares an input that it does not have"},
    {"in_place_above", [](Plan& p) { p.steps[1].tactic.in_place_operand = 3; },
     "shares an input that it does not have"},
    {"workspace_above", [](Plan& p) { p.steps[0].workspace = 4; }, "has no room for its workspace"},
    {"workspace_below", [](Plan& p) { p.steps[0].workspace = -2; },
     "has no room for its workspace"},
    {"workspace_missing", [](Plan& p) { p.steps[0].workspace = -1; },
     "has no room for its workspace"},
    {"workspace_negative", [](Plan& p) { p.steps[0].tactic.workspace_bytes = -1; },
     "has no room for its workspace"},
    {"workspace_too_small", [](Plan& p) { p.steps[0].tactic.workspace_bytes = 65; },
     "has no room for its workspace"},
    {"present_input_missing", [](Plan& p) { p.steps[0].inputs[0] = -1; }, "lacks an input"},
    {"constant_missing", [](Plan& p) { p.steps[1].constants[1] = -1; }, "lacks an input"},
    {"absent_input_given", [](Plan& p) { p.steps[1].inputs[2] = 1; }, "lacks an input"},
    {"input_too_small", [](Plan& p) { p.storages[0].bytes = 399; }, "reads past a tensor"},
    {"input_of_another_type",
     [](Plan& p) { p.steps[0].problem.inputs[0].type.type = DataType::int32; },
     "reads past a tensor"},
    {"output_too_small", [](Plan& p) { p.storages[2].bytes = 399; }, "writes past a tensor"},
    {"constant_of_another_type",
     [](Plan& p) {
       p.steps[1].problem.inputs[1].type.dims = {4, 4};
     },
     "has a constant of another type"},
    {"tensor_storage_above", [](Plan& p) { p.tensors[1].storage = 4; }, "a tensor has no storage"},
    {"tensor_storage_below", [](Plan& p) { p.tensors[1].storage = -1; }, "a tensor has no storage"},
    {"storage_negative_bytes", [](Plan& p) { p.storages[1].bytes = -1; },
     "a storage has a negative size or offset"},
    {"storage_negative_offset", [](Plan& p) { p.storages[1].offset = -256; },
     "a storage has a negative size or offset"},
    {"storage_of_no_input", [](Plan& p) { p.storages[0].offset = 1; },
     "a storage of the caller is out of range"},
    {"storage_of_no_output", [](Plan& p) { p.storages[2].offset = 1; },
     "a storage of the caller is out of range"},
    {"graph_input_above", [](Plan& p) { p.inputs[0] = 3; }, "an input or output is out of range"},
    {"graph_output_below", [](Plan& p) { p.outputs[0] = -1; },
     "an input or output is out of range"},
    {"stream_above", [](Plan& p) { p.steps[1].stream = 8; },
     "it runs more side by side than any build makes"},
    {"arena_too_small", [](Plan& p) { p.arena_bytes = 575; }, "a storage lies outside the arena"},
    {"arena_negative", [](Plan& p) { p.arena_bytes = -1; }, "an arena of impossible size"},
    {"arena_huge", [](Plan& p) { p.arena_bytes = (int64_t{1} << 42) + 1; },
     "an arena of impossible size"},
    {"storage_unaligned", [](Plan& p) { p.storages[3].offset = 520; }, "a storage is not aligned"},
    {"storage_said_to_be_dead",
     [](Plan& p) {
       p.storages[1].last_step = -1;
       p.storages[1].offset = int64_t{1} << 44;
     },
     "a storage lies outside the arena"},
    {"storage_end_overflows", [](Plan& p) { p.storages[1].offset = INT64_MAX - 4095; },
     "a storage lies outside the arena"},
    {"storage_of_no_step",
     [](Plan& p) {
       p.storages.push_back({StorageKind::arena, 64, 0, 0, 0});
     },
     "a storage that no step uses"},
    {"workspace_in_an_output", [](Plan& p) { p.steps[0].workspace = 2; },
     "has its workspace in the caller's memory"},
    {"workspace_of_what_is_written",
     [](Plan& p) {
       p.steps[0].workspace = 1;
       p.storages.pop_back();
     },
     "writes two things to one storage"},
    {"input_in_the_arena", [](Plan& p) { p.storages[0].kind = StorageKind::arena; },
     "an input lies in memory that is not the caller's"},
    {"writes_an_input", [](Plan& p) { p.tensors[1].storage = 0; },
     "writes to an input of the caller"},
    {"writes_what_it_reads", [](Plan& p) { p.tensors[2].storage = 1; },
     "writes to a storage that it reads"},
    {"reads_too_early", [](Plan& p) { std::swap(p.steps[0], p.steps[1]); },
     "reads what no step has written"},
    {"output_of_no_step",
     [](Plan& p) {
       p.storages.push_back({StorageKind::output, 400, 1, 0, 0});
       p.tensors.push_back({"z", p.tensors[2].type, {}, 4});
       p.outputs.push_back(3);
     },
     "an output that no step writes"},
    {"output_smaller_than_what_is_written",
     [](Plan& p) {
       p.tensors.push_back({"z", {DataType::float32, {1}}, {}, 2});
       p.outputs[0] = 3;
     },
     "a storage of the caller is not its input's or output's"},
    {"output_larger_than_its_storage",
     [](Plan& p) {
       p.tensors.push_back({"z", {DataType::float32, {101}}, {}, 2});
       p.outputs[0] = 3;
     },
     "an input or output does not lie as the caller has it"},
    {"output_in_another_layout", [](Plan& p) { p.outputs[0] = 1; },
     "an input or output does not lie as the caller has it"},
    {"two_inputs_in_one_storage", [](Plan& p) { p.inputs.push_back(0); },
     "an input lies in memory that is not the caller's"},
    {"read_in_another_format", [](Plan& p) { p.steps[1].tactic.inputs[0] = {}; },
     "reads a tensor in another format"},
    {"written_in_another_format", [](Plan& p) { p.steps[0].tactic.outputs[0] = {}; },
     "writes a tensor in another format"},
    {"a_view_that_moves",
     [](Plan& p) {
       p.steps[1].tactic.view_of = 0;
       p.tensors[2].storage = 1;
     },
     "is called a view and is none"},
    {"live_storages_overlap", [](Plan& p) { p.storages[3].offset = 256; },
     "two live storages overlap"},
};

void PrintTo(const BrokenPlan& plan, std::ostream* out) {
  *out << plan.name;
}

class PlanBounds : public testing::TestWithParam<BrokenPlan> {};

TEST_P(PlanBounds, AreChecked) {
  Plan plan = test::small_plan();
  ASSERT_TRUE(
      read_unsigned_engine(std::make_shared<const Bytes>(test::unsigned_engine(plan))).ok());
  GetParam().breaks(plan);
  const auto engine =
      read_unsigned_engine(std::make_shared<const Bytes>(test::unsigned_engine(plan)));
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
  EXPECT_NE(engine.error().message.find(GetParam().reason), std::string::npos)
      << engine.error().message;
}

INSTANTIATE_TEST_SUITE_P(Plans, PlanBounds, testing::ValuesIn(kBrokenPlans),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace enginery
