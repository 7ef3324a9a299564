// Parts of a memory in an engine file: where they begin is read, and whatever does not follow from
// the step that joins or cuts is refused.
#include <gtest/gtest.h>

#include <functional>

#include "engine/plan/memory.h"
#include "tests/engine/format/small_engine.h"

namespace enginery {
namespace {

const TensorType kPart{DataType::float32, {1, 2, 8, 8}}, kWhole{DataType::float32, {1, 4, 8, 8}};
constexpr int64_t kHalf = 512;  // bytes

PlanStep step_of(const std::string& name, Op op, const std::vector<TensorType>& inputs,
                 const std::vector<TensorType>& outputs) {
  PlanStep step = test::one_step_plan(op, inputs, outputs).steps[0];
  step.name = name;
  return step;
}

// Tensors: 0 x, 1 and 2 the halves of storage 1, 3 the whole of it, 4 and 5 its halves again, 6 the
// output. Steps: 0 and 1 write halves, 2 joins them, 3 cuts, 4 reads the second half.
Plan sliced_plan() {
  Plan plan;
  plan.storages = {{StorageKind::input, kHalf, 0, 0, 0},
                   {StorageKind::arena, 2 * kHalf, 0, 0, 0},
                   {StorageKind::output, kHalf, 0, 0, 0}};
  plan.tensors = {{"x", kPart, {}, 0},  {"a", kPart, {}, 1}, {"b", kPart, {}, 1, kHalf},
                  {"c", kWhole, {}, 1}, {"d", kPart, {}, 1}, {"e", kPart, {}, 1, kHalf},
                  {"y", kPart, {}, 2}};
  const Op relu = Activation{ActivationKind::relu, 0, 0};
  plan.steps = {step_of("a", relu, {kPart}, {kPart}), step_of("b", relu, {kPart}, {kPart}),
                step_of("join", Concat{1}, {kPart, kPart}, {kWhole}),
                step_of("cut", Split{1, {2, 2}}, {kWhole}, {kPart, kPart}),
                step_of("y", relu, {kPart}, {kPart})};
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> wires = {
      {{0}, {1}}, {{0}, {2}}, {{1, 2}, {3}}, {{3}, {4, 5}}, {{5}, {6}}};
  for (size_t i = 0; i < wires.size(); ++i)
    std::tie(plan.steps[i].inputs, plan.steps[i].outputs) = wires[i];
  for (const size_t slice : {2, 3}) {
    plan.steps[slice].tactic.id = "slice";
    plan.steps[slice].tactic.view_of = 0;
  }
  plan.inputs = {0};
  plan.outputs = {6};
  plan.arena_bytes = 2 * kHalf;
  return plan;
}

Result<EngineFile> read_again(const Plan& plan) {
  return read_unsigned_engine(std::make_shared<const Bytes>(
      test::unsigned_engine(plan, test::manifest_of(plan, "cpu-sse41"))));
}

TEST(SlicedPlan, KeepWhereTheyBegin) {
  const auto engine = read_again(sliced_plan());
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  for (size_t i = 0; i < engine->plan.tensors.size(); ++i)
    EXPECT_EQ(engine->plan.tensors[i].offset, sliced_plan().tensors[i].offset) << i;
}

struct BrokenSlice {
  std::string name;
  std::function<void(Plan&)> breaks;
  std::string reason;
};

const BrokenSlice kBrokenSlices[] = {
    {"begins_behind_its_storage", [](Plan& p) { p.tensors[5].offset = 3 * kHalf; },
     "writes past a tensor"},
    {"ends_behind_its_storage", [](Plan& p) { p.tensors[2].offset = kHalf + kArenaAlignment; },
     "writes past a tensor"},
    {"as_far_as_the_field_goes",
     [](Plan& p) { p.tensors[2].offset = (UINT32_MAX - 15) * int64_t{16}; },
     "writes past a tensor"},
    {"begins_where_no_kernel_expects_it", [](Plan& p) { p.tensors[2].offset = kHalf - 64; },
     "a tensor is not aligned"},
    {"input_ends_behind_its_storage", [](Plan& p) { p.tensors[0].offset = kArenaAlignment; },
     "reads past a tensor"},
    {"output_ends_behind_its_storage", [](Plan& p) { p.tensors[6].offset = kArenaAlignment; },
     "writes past a tensor"},
    {"joined_where_it_does_not_lie",
     [](Plan& p) { std::swap(p.tensors[1].offset, p.tensors[2].offset); },
     "step 'join' is called a view and is none"},
    {"joined_from_another_storage",
     [](Plan& p) {
       p.storages.push_back({StorageKind::arena, 2 * kHalf, 2 * kHalf, 0, 0});
       p.tensors[2].storage = 3;
       p.arena_bytes *= 2;
     },
     "step 'join' is called a view and is none"},
    {"parts_on_top_of_each_other", [](Plan& p) { p.tensors[2].offset = 0; },
     "step 'join' is called a view and is none"},
    {"cut_where_it_does_not_lie", [](Plan& p) { p.tensors[5].offset = kArenaAlignment; },
     "step 'cut' is called a view and is none"},
    {"cut_in_several_pieces",
     [](Plan& p) {
       p.steps[3].problem.op = Split{2, {4, 4}};
       for (TensorDesc& d : p.steps[3].problem.outputs) d.type.dims = {1, 4, 4, 8};
       for (const int t : {4, 5}) p.tensors[static_cast<size_t>(t)].type.dims = {1, 4, 4, 8};
       p.steps[4] = step_of("y", Activation{}, {p.tensors[5].type}, {p.tensors[5].type});
       p.steps[4].inputs = {5};
       p.steps[4].outputs = {6};
       p.tensors[6].type.dims = {1, 4, 4, 8};
     },
     "step 'cut' is called a view and is none"},
    {"joined_before_all_is_written", [](Plan& p) { std::swap(p.steps[1], p.steps[2]); },
     "step 'join' reads what no step has written"},
    {"a_hole_in_what_is_written", [](Plan& p) { p.steps.erase(p.steps.begin() + 1); },
     "step 'join' reads what no step has written"},
    {"writes_half_of_what_it_reads",
     [](Plan& p) {
       p.tensors[6] = {"y", kPart, {}, 1, kArenaAlignment};
       p.storages[2].kind = StorageKind::arena;
       p.storages.pop_back();
     },
     "step 'y' writes to a storage that it reads"},
    {"two_outputs_that_overlap",
     [](Plan& p) {
       p.steps[3].tactic.view_of = -1;
       p.storages.push_back({StorageKind::arena, 2 * kHalf, 2 * kHalf, 0, 0});
       p.tensors[4].storage = p.tensors[5].storage = 3;
       p.tensors[5].offset = kArenaAlignment;
       p.arena_bytes *= 2;
     },
     "step 'cut' writes two things to one storage"},
};

void PrintTo(const BrokenSlice& slice, std::ostream* out) {
  *out << slice.name;
}

class PlanSlices : public testing::TestWithParam<BrokenSlice> {};

TEST_P(PlanSlices, AreChecked) {
  Plan plan = sliced_plan();
  GetParam().breaks(plan);
  const auto engine = read_again(plan);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
  EXPECT_NE(engine.error().message.find(GetParam().reason), std::string::npos)
      << engine.error().message;
}

INSTANTIATE_TEST_SUITE_P(Plans, PlanSlices, testing::ValuesIn(kBrokenSlices),
                         [](const auto& tested) { return tested.param.name; });

const Format kPixels{DataType::float32, {LayoutKind::channels_last, 0}};
const Format kOf12 = with_pitch(kPixels, 12);
const TensorType kFour{DataType::float32, {1, 4, 8, 8}}, kTwelve{DataType::float32, {1, 12, 8, 8}};
const int64_t kBytesOf12 = bytes_of(kTwelve), kBytesOf4 = bytes_of(kFour);

// Tensors: 0 x, 1 to 3 the channels of storage 1, 4 the whole of it, 5 the output. Steps: 0 to 2
// write channels, 3 joins them, 4 reads all.
Plan pitched_plan() {
  Plan plan;
  plan.storages = {{StorageKind::input, kBytesOf4, 0, 0, 0},
                   {StorageKind::arena, kBytesOf12, 0, 0, 0},
                   {StorageKind::output, kBytesOf12, 0, 0, 0}};
  plan.tensors = {{"x", kFour, {}, 0},        {"a", kFour, kOf12, 1},
                  {"b", kFour, kOf12, 1, 16}, {"c", kFour, kOf12, 1, 32},
                  {"j", kTwelve, kPixels, 1}, {"y", kTwelve, {}, 2}};
  const Op relu = Activation{ActivationKind::relu, 0, 0};
  plan.steps = {step_of("a", relu, {kFour}, {kFour}), step_of("b", relu, {kFour}, {kFour}),
                step_of("c", relu, {kFour}, {kFour}),
                step_of("join", Concat{1}, {kFour, kFour, kFour}, {kTwelve}),
                step_of("y", relu, {kTwelve}, {kTwelve})};
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> wires = {
      {{0}, {1}}, {{0}, {2}}, {{0}, {3}}, {{1, 2, 3}, {4}}, {{4}, {5}}};
  for (size_t i = 0; i < wires.size(); ++i) {
    PlanStep& step = plan.steps[i];
    std::tie(step.inputs, step.outputs) = wires[i];
    for (size_t k = 0; k < step.inputs.size(); ++k)
      step.tactic.inputs[k] = plan.tensors[static_cast<size_t>(step.inputs[k])].format;
    step.tactic.outputs[0] = plan.tensors[static_cast<size_t>(step.outputs[0])].format;
  }
  plan.steps[3].tactic.view_of = 0;
  plan.inputs = {0};
  plan.outputs = {5};
  plan.arena_bytes = kBytesOf12;
  return plan;
}

// Another format of a tensor, for whoever makes and reads it too.
void set_format(Plan& plan, int tensor, const Format& format) {
  plan.tensors[static_cast<size_t>(tensor)].format = format;
  for (PlanStep& step : plan.steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i)
      if (step.inputs[i] == tensor) step.tactic.inputs[i] = format;
    for (size_t i = 0; i < step.outputs.size(); ++i)
      if (step.outputs[i] == tensor) step.tactic.outputs[i] = format;
  }
}

// Has step 4 read the channels of tensor 2.
void read_channels(Plan& plan) {
  plan.steps[4].problem = plan.steps[0].problem;
  plan.steps[4].inputs = {2};
  plan.steps[4].tactic.inputs = {kOf12};
  plan.tensors[5].type = kFour;
  plan.storages[2].bytes = kBytesOf4;
}

// A first input may lie between the channels of others; whether its tactic can read it so is for
// its source to say.
TEST(PitchedPlan, MayHaveAReaderOfChannels) {
  Plan plan = pitched_plan();
  read_channels(plan);
  const auto engine = read_again(plan);
  EXPECT_TRUE(engine.ok()) << engine.error().message;
}

TEST(PitchedPlan, IsReadAgain) {
  const auto engine = read_again(pitched_plan());
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->plan.tensors[2].format, kOf12);
  EXPECT_EQ(engine->plan.tensors[2].offset, 16);
}

TEST(PitchedPlan, MayHaveAWholeThatIsAPartOfAWiderOne) {
  Plan plan = pitched_plan();
  for (const int tensor : {1, 2, 3, 4}) set_format(plan, tensor, with_pitch(kPixels, 20));
  plan.storages[1].bytes = plan.arena_bytes = 20 * 64 * 4;
  const auto engine = read_again(plan);
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  EXPECT_EQ(engine->plan.tensors[4].format, with_pitch(kPixels, 20));
}

const BrokenSlice kBrokenPitches[] = {
    {"ends_behind_its_storage", [](Plan& p) { p.tensors[3].offset = 48; }, "writes past a tensor"},
    {"narrower_than_its_channels", [](Plan& p) { set_format(p, 3, with_pitch(kPixels, 2)); },
     "a tensor's pitch does not fit it"},
    {"not_of_whole_pieces", [](Plan& p) { set_format(p, 3, with_pitch(kPixels, 13)); },
     "a tensor's pitch does not fit it"},
    {"of_another_whole", [](Plan& p) { set_format(p, 3, with_pitch(kPixels, 8)); },
     "step 'join' is called a view and is none"},
    {"on_top_of_another", [](Plan& p) { p.tensors[3].offset = 16; },
     "step 'join' is called a view and is none"},
    {"one_is_not_written", [](Plan& p) { p.steps.erase(p.steps.begin() + 1); },
     "step 'join' reads what no step has written"},
    {"joined_before_all_is_written", [](Plan& p) { std::swap(p.steps[2], p.steps[3]); },
     "step 'join' reads what no step has written"},
    {"read_as_a_further_input",
     [](Plan& p) {
       p.steps[4] = step_of("y", Binary{BinaryKind::add}, {kFour, kFour}, {kFour});
       p.steps[4].inputs = {0, 2}, p.steps[4].outputs = {5};
       p.steps[4].tactic.inputs = {{}, kOf12}, p.tensors[5].type = kFour;
       p.storages[2].bytes = kBytesOf4;
     },
     "step 'y' reads a further tensor with a pitch"},
    {"written_in_place", [](Plan& p) { p.steps[1].tactic.in_place_operand = 0; },
     "step 'b' writes more than one tensor with a pitch"},
    {"read_in_place",
     [](Plan& p) {
       read_channels(p);
       p.steps[4].tactic.in_place_operand = 0;
     },
     "step 'y' writes over what it reads with a pitch"},
    {"a_whole_with_the_pitch_of_another",
     [](Plan& p) {
       set_format(p, 4, with_pitch(kPixels, 16));
       p.storages[1].bytes = 2 * kBytesOf12;
       p.arena_bytes = 2 * kBytesOf12;
     },
     "step 'join' is called a view and is none"},
    {"whole_read_before_it_is_joined", [](Plan& p) { std::swap(p.steps[3], p.steps[4]); },
     "step 'y' reads what no step has written"},
};

class PlanPitches : public testing::TestWithParam<BrokenSlice> {};

TEST_P(PlanPitches, AreChecked) {
  Plan plan = pitched_plan();
  GetParam().breaks(plan);
  const auto engine = read_again(plan);
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.error().code, ErrorCode::untrusted);
  EXPECT_NE(engine.error().message.find(GetParam().reason), std::string::npos)
      << engine.error().message;
}

INSTANTIATE_TEST_SUITE_P(Plans, PlanPitches, testing::ValuesIn(kBrokenPitches),
                         [](const auto& tested) { return tested.param.name; });

// A join whose halves are written by one step lets it write both: they are memory of their own.
TEST(SlicedPlan, OneStepMayWriteSeveralPartsOfOneMemory) {
  Plan plan = sliced_plan();
  plan.steps[3].tactic.view_of = -1;
  plan.storages.push_back({StorageKind::arena, 2 * kHalf, 2 * kHalf, 0, 0});
  plan.tensors[4].storage = plan.tensors[5].storage = 3;
  plan.arena_bytes *= 2;
  const auto engine = read_again(plan);
  EXPECT_TRUE(engine.ok()) << engine.error().message;
}

}  // namespace
}  // namespace enginery
