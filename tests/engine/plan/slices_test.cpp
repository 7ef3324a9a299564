// Slices: where lowering offers them, where planning puts the parts, and who waits for whom.
#include "engine/plan/slices.h"

#include <algorithm>
#include <sstream>

#include "engine/plan/memory.h"
#include "engine/plan/streams.h"
#include "tests/engine/plan/slices_support.h"

namespace enginery {
namespace {

const std::string kX = "input %x : float32[1x4x8x8]\n ";  // a channel takes 256 bytes

bool offers_slice(const Network& network, const std::string& name) {
  for (const NetworkNode& node : network.nodes) {
    if (node.name == name) return is_slice(node.problem, node.tactics.back());
  }
  ADD_FAILURE() << "no node " << name;
  return false;
}

struct Offer {
  const char* name;
  std::string body;
  std::string offered, refused;  // nodes, separated by blanks
};

const Offer kOffers[] = {
    {"of_producers",
     kX + "%a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n %c = concat(%a, %b) "
          "axis=1\n output %c",
     "c", ""},
    {"of_an_input", kX + "%a = act(%x) kind=relu\n %c = concat(%a, %x) axis=1\n output %c", "",
     "c"},
    {"of_a_constant",
     kX + "%k = constant float32[1x4x8x8] random(1)\n %a = act(%x) kind=relu\n "
          "%c = concat(%a, %k) axis=1\n output %c",
     "", "c"},
    {"of_an_output",
     kX + "%a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n %c = concat(%a, %b) "
          "axis=1\n output %a\n output %c",
     "", "c"},
    {"of_one_value_twice", kX + "%a = act(%x) kind=relu\n %c = concat(%a, %a) axis=1\n output %c",
     "", "c"},
    {"of_a_part_of_another",
     kX + "%a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n %c = "
          "concat(%a, %b) axis=1\n %d = concat(%b, %a) axis=1\n output "
          "%c\n output %d",
     "c", "d"},
    {"of_wholes",
     kX + "%a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n %c = concat(%a, %b) "
          "axis=1\n %e = act(%x) kind=tanh\n %d = concat(%e, %c) axis=1\n output %d",
     "c d", ""},
    {"of_a_view",
     kX + "%s = constant int64[4] {1, 8, 4, 8}\n %a = act(%x) kind=relu\n %v = "
          "reshape(%a, %s)\n %b = act(%v) kind=tanh\n %c = concat(%v, %b) axis=1\n "
          "output %c",
     "c", ""},
    {"of_a_view_of_an_input",
     kX + "%s = constant int64[4] {1, 8, 4, 8}\n %v = reshape(%x, %s)\n "
          "%b = act(%v) kind=tanh\n %c = concat(%v, %b) axis=1\n output "
          "%c",
     "", "c"},
    {"of_a_value_and_its_view",
     kX + "%s = constant int64[4] {1, 4, 8, 8}\n %a = act(%x) "
          "kind=relu\n %v = reshape(%a, %s)\n %c = concat(%v, %a) "
          "axis=1\n output %c",
     "", "c"},
    {"that_do_not_begin_at_a_multiple",
     "input %x : float32[1x3x5x5]\n %a = act(%x) kind=relu\n %b "
     "= act(%x) kind=tanh\n %c = concat(%a, %b) axis=1\n output "
     "%c",
     "", "c"},
    {"in_several_pieces",
     "input %x : float32[2x4x8x8]\n %a = act(%x) kind=relu\n %b = act(%x) "
     "kind=tanh\n %c = concat(%a, %b) axis=1\n output %c",
     "", "c"},
    {"of_a_cut_input",
     kX + "%a, %b = split(%x) axis=1 sizes=[1,3]\n %c = act(%a) kind=relu\n %d = "
          "act(%b) kind=relu\n output %c\n output %d",
     "a", ""},
    {"that_are_outputs",
     kX + "%a, %b = split(%x) axis=1 sizes=[1,3]\n %c = act(%a) kind=relu\n "
          "output %c\n output %b",
     "", "a"},
    {"of_a_view_of_what_was_cut",
     kX + "%s = constant int64[4] {1, 4, 8, 4}\n %a, %b = split(%x) axis=1 sizes=[2,2]\n "
          "%v = reshape(%a, %s)\n %r = act(%v) kind=relu\n %c = concat(%v, %r) axis=1\n "
          "%d = act(%b) kind=tanh\n output %c\n output %d",
     "a", "c"},
    {"of_what_was_cut",
     kX + "%a, %b = split(%x) axis=1 sizes=[1,3]\n %c = concat(%b, %a) axis=1\n "
          "output %c",
     "a", "c"},
};

void PrintTo(const Offer& offer, std::ostream* out) {
  *out << offer.name;
}

class SliceOffers : public testing::TestWithParam<Offer> {};

TEST_P(SliceOffers, AreMadeWhereEveryPartMayLieInTheWhole) {
  const auto network = Fixture().lower_text(GetParam().body);
  ASSERT_TRUE(network) << network.error().message;
  const auto expect = [&](const std::string& names, bool offered) {
    std::istringstream words(names);
    for (std::string name; words >> name;) EXPECT_EQ(offers_slice(*network, name), offered) << name;
  };
  expect(GetParam().offered, true);
  expect(GetParam().refused, false);
}

INSTANTIATE_TEST_SUITE_P(Parts, SliceOffers, testing::ValuesIn(kOffers),
                         [](const auto& tested) { return tested.param.name; });

// The plan that takes every slice that is offered.
Result<Plan> sliced_plan(const std::string& body, int streams = 1) {
  Fixture f;
  TRY(const Network network, f.lower_text(body));
  TacticSelection selection{.tactics = {}, .reformats = {}, .streams = streams};
  for (const NetworkNode& node : network.nodes) selection.tactics.push_back(node.tactics.back());
  CHECK_OK(complete_reformats(network, f.sources, selection));
  return make_plan(network, selection);
}

const std::string kNested =
    kX +
    "%a = act(%x) kind=relu\n %b = act(%x) kind=tanh\n %c = concat(%a, %b) axis=1\n %e = "
    "act(%x) kind=tanh\n %d = concat(%e, %c) axis=1\n ";

TEST(Slices, PartsOfPartsLieInTheOutermostWhole) {
  const auto plan = sliced_plan(kNested + "output %d");
  ASSERT_TRUE(plan) << plan.error().message;
  const PlanTensor& whole = tensor(*plan, "d", kLinear);
  const Storage& storage = plan->storages[static_cast<size_t>(whole.storage)];
  EXPECT_EQ(storage.bytes, 12 * 256);
  EXPECT_EQ(storage.kind, StorageKind::output);  // the parts are written to the caller's memory
  for (const auto& [name, channel] : {std::pair{"e", 0}, {"a", 4}, {"b", 8}, {"c", 4}, {"d", 0}}) {
    EXPECT_EQ(tensor(*plan, name, kLinear).storage, whole.storage) << name;
    EXPECT_EQ(tensor(*plan, name, kLinear).offset, channel * 256) << name;
  }
  EXPECT_EQ(plan->arena_bytes, 0);
}

TEST(Slices, AReformatWritesItsPartOfTheWhole) {
  const auto plan = sliced_plan(
      kX +
      "%w = constant float32[4x4x3x3] random(1)\n %a = act(%x) kind=relu\n %k = conv(%x, %w) " +
      kConv + "\n %c = concat(%a, %k) axis=1\n %d = act(%c) kind=tanh\n output %d");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NE(tensor(*plan, "k", kNhwc).storage, tensor(*plan, "c", kLinear).storage);
  EXPECT_EQ(tensor(*plan, "k", kLinear).storage, tensor(*plan, "c", kLinear).storage);
  EXPECT_EQ(tensor(*plan, "k", kLinear).offset, 4 * 256);
}

// c1 would take over c0's memory, but belongs into the whole. In a plane of one element nhwc is
// linear.
TEST(Slices, APartIsNotWrittenOverItsOperand) {
  const auto plan = sliced_plan(
      "input %x : float32[1x64x1x1]\n %w = constant float32[64x64x3x3] random(1)\n %c0 = conv(%x, "
      "%w) " +
      kConv + "\n %c2 = conv(%x, %w) " + kConv +
      "\n %c1 = binary(%c2, %c0) kind=add\n %a = act(%x) kind=relu\n %c = concat(%a, %c1) "
      "axis=1\n %d = act(%c) kind=tanh\n output %d");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NE(tensor(*plan, "c1", kNhwc).storage, tensor(*plan, "c0", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "c1", kNhwc).storage, tensor(*plan, "c", kLinear).storage);
  EXPECT_EQ(tensor(*plan, "c1", kNhwc).offset, 256);
}

TEST(Slices, WhatIsCutLivesAsLongAsItsParts) {
  const auto plan =
      sliced_plan(kX +
                  "%r = act(%x) kind=relu\n %a, %b = split(%r) axis=1 sizes=[1,3]\n %c = act(%a) "
                  "kind=tanh\n %d = act(%b) kind=tanh\n output %c\n output %d");
  ASSERT_TRUE(plan) << plan.error().message;
  const PlanTensor& whole = tensor(*plan, "r", kLinear);
  EXPECT_EQ(tensor(*plan, "b", kLinear).storage, whole.storage);
  EXPECT_EQ(tensor(*plan, "b", kLinear).offset, 256);
  EXPECT_EQ(plan->storages[static_cast<size_t>(whole.storage)].last_step, 3);
}

TEST(Slices, PartsAreWrittenSideBySide) {
  const auto plan = sliced_plan(kNested + "%y = act(%d) kind=relu\n output %y", 3);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(stream_count(*plan), 3);
  const StepOrder order(*plan);
  for (size_t i = 0; i + 1 < plan->steps.size(); ++i) EXPECT_TRUE(order.waits(i).empty()) << i;
  EXPECT_EQ(order.waits(plan->steps.size() - 1).size(), 2u);  // the whole's reader: for all parts
}

// Two convolutions, their channels joined, and a third one that reads them.
const std::string kChannels =
    "input %x : float32[2x16x5x5]\n %v = constant float32[16x16x3x3] random(1)\n "
    "%w = constant float32[8x16x3x3] random(2)\n %u = constant float32[8x24x3x3] random(3)\n "
    "%a = conv(%x, %v) " +
    kConv + "\n %b = conv(%x, %w) " + kConv + "\n ";
const std::string kJoined =
    "%c = concat(%a, %b) axis=1\n %d = conv(%c, %u) " + kConv + "\n output %d";
TEST(Slices, ChannelsAreWrittenWithThePitchOfTheWhole) {
  const auto plan = pitched_plan(kChannels + kJoined, 2);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(step_names(*plan),
            (std::vector<std::string>{"reformat x", "a", "b", "c", "d", "reformat d"}));
  const PlanTensor &a = tensor(*plan, "a", kOf24), &b = tensor(*plan, "b", kOf24),
                   &c = tensor(*plan, "c", kNhwc);
  EXPECT_EQ(a.storage, c.storage);
  EXPECT_EQ(b.storage, c.storage);
  EXPECT_EQ(a.offset, 0);
  EXPECT_EQ(b.offset, 16 * 4);
  EXPECT_EQ(plan->storages[static_cast<size_t>(c.storage)].bytes, 2 * 25 * 24 * 4);
  EXPECT_EQ(plan->steps[1].tactic.outputs[0], kOf24);
  EXPECT_EQ(selected_key(plan->steps[1]).find("nhwc/"), std::string::npos);
  // Each is written while the other is: the bytes of their pixels alternate.
  const StepOrder order(*plan);
  EXPECT_NE(plan->steps[1].stream, plan->steps[2].stream);
  EXPECT_FALSE(order.before(1, 2));
  EXPECT_TRUE(order.before(1, 4) && order.before(2, 4));
}

TEST(Slices, WhatCannotBeWrittenWithAPitchIsCopiedToItsPlace) {
  const auto plan = pitched_plan(kChannels +
                                 "%t = act(%x) kind=tanh\n %c = concat(%a, %t) axis=1\n "
                                 "%y = constant float32[8x32x3x3] random(3)\n %d = conv(%c, %y) " +
                                 kConv + "\n output %d\n output %b");
  ASSERT_TRUE(plan) << plan.error().message;
  const Format of_32 = with_pitch(kNhwc, 32);
  EXPECT_EQ(tensor(*plan, "a", of_32).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "t", of_32).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_NE(tensor(*plan, "t", kLinear).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat t"), 1);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat a"), 0);
}

const std::string kOtherReader =
    "%z = constant float32[8x16x3x3] random(4)\n %s = conv(%a, %z) " + kConv + "\n output %s\n ";

TEST(Slices, ChannelsThatOthersCannotReadInPlaceAreCopiedThere) {
  const auto plan = pitched_plan(kChannels + kOtherReader + kJoined);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_NE(tensor(*plan, "a", kNhwc).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "a", kOf24).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "b", kOf24).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(plan->steps[1].name, "a");
  EXPECT_EQ(plan->steps[1].tactic.outputs[0], kNhwc);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat a"), 1);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat b"), 0);
}

TEST(Slices, ChannelsAreReadWhereTheyWereWrittenForAWhole) {
  const auto plan = pitched_plan(kChannels + kOtherReader + kJoined, 2, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(step_names(*plan), (std::vector<std::string>{"reformat x", "a", "b", "s", "c", "d",
                                                         "reformat s", "reformat d"}));
  EXPECT_EQ(tensor(*plan, "a", kOf24).storage, tensor(*plan, "c", kNhwc).storage);
  EXPECT_EQ(plan->steps[3].tactic.inputs[0], kOf24);
  const StepOrder order(*plan);
  EXPECT_TRUE(order.before(1, 3));
  EXPECT_FALSE(order.before(2, 3));  // b is written between the pixels that are read
}

const std::string kCut =
    "input %x : float32[2x16x5x5]\n %v = constant float32[24x16x3x3] "
    "random(1)\n %w = constant float32[8x16x3x3] random(2)\n "
    "%u = constant float32[8x8x3x3] random(3)\n %r = conv(%x, %v) " +
    kConv + "\n %a, %b = split(%r) axis=1 sizes=[16,8]\n %c = conv(%a, %w) " + kConv + "\n ";

TEST(Slices, ChannelsAreReadWithThePitchOfTheWhole) {
  const auto plan = pitched_plan(kCut + "%d = conv(%b, %u) " + kConv + "\n output %c\n output %d",
                                 1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(step_names(*plan), (std::vector<std::string>{"reformat x", "r", "a", "c", "d",
                                                         "reformat c", "reformat d"}));
  const PlanTensor &whole = tensor(*plan, "r", kNhwc), &b = tensor(*plan, "b", kOf24);
  EXPECT_EQ(tensor(*plan, "a", kOf24).storage, whole.storage);
  EXPECT_EQ(b.storage, whole.storage);
  EXPECT_EQ(b.offset, 16 * 4);
  EXPECT_EQ(plan->steps[4].tactic.inputs[0], kOf24);
  EXPECT_EQ(selected_key(plan->steps[4]).find("nhwc/"), std::string::npos);
  EXPECT_NE(selected_key(plan->steps[2]).find("nhwc/24"), std::string::npos);  // the slice's own
}

TEST(Slices, WhatCannotBeReadWithAPitchIsCopiedFromItsPlace) {
  const auto plan =
      pitched_plan(kCut + "%d = act(%b) kind=tanh\n output %c\n output %d", 1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(tensor(*plan, "b", kOf24).storage, tensor(*plan, "r", kNhwc).storage);
  EXPECT_NE(tensor(*plan, "b", kLinear).storage, tensor(*plan, "r", kNhwc).storage);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat b"), 1);
}

// b lies in r and is wanted in e, too.
TEST(Slices, APieceOfOneWholeIsCopiedIntoAnother) {
  const auto plan = pitched_plan(
      kCut + "%e = concat(%b, %c) axis=1\n %f = conv(%e, %w) " + kConv + "\n output %f", 1,
      Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  const Format of_16 = with_pitch(kNhwc, 16);
  EXPECT_EQ(tensor(*plan, "b", kOf24).storage, tensor(*plan, "r", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "b", of_16).storage, tensor(*plan, "e", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "c", of_16).storage, tensor(*plan, "e", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "c", of_16).offset, 8 * 4);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat b"), 1);
}

TEST(Slices, AreCopiesWhereNobodyReadsWithAPitch) {
  Fixture f;
  f.source->writes_pitched = true;
  const auto network =
      f.lower_text(kCut + "%d = conv(%b, %u) " + kConv + "\n output %c\n output %d");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_FALSE(offers_slice(*network, "a"));
}

TEST(Slices, ChannelsAreCopiedWhereNobodyWritesWithAPitch) {
  Fixture f;
  f.source->writes_pitched = true;
  const auto network = f.lower_text(
      "input %x : float32[2x16x5x5]\n %s = act(%x) kind=relu\n %t = act(%x) kind=tanh\n "
      "%c = concat(%s, %t) axis=1\n output %c");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_FALSE(offers_slice(*network, "c"));
}

TEST(ByteRanges, OfOnePitchMeetWhereTheirColumnsDo) {
  const ByteRange a{0, 0, 1000, 96, 64}, b{0, 64, 1032, 96, 32}, c{0, 48, 1000, 96, 32};
  EXPECT_FALSE(a.meets(b) || b.meets(a));
  EXPECT_TRUE(a.meets(c) && c.meets(a) && b.meets(c) && a.meets(a));
  EXPECT_TRUE(b.meets({0, 64, 1032, 96, 64}));  // its columns run on into the next pixel's
  EXPECT_TRUE(a.meets({0, 64, 1032, 64, 32}));  // of another pitch
  EXPECT_TRUE(a.meets({0, 64, 96}));            // a whole one
  EXPECT_FALSE(a.meets({1, 0, 1000, 96, 64}) || a.meets({0, 1000, 2000, 96, 64}));
  EXPECT_TRUE(a.covers(a));
  EXPECT_FALSE(a.covers(b) || a.covers({0, 0, 64}) || b.covers({0, 64, 900, 96, 32}));
  EXPECT_TRUE((ByteRange{0, 0, 1032}).covers(b));
}

// Storage 1 has parts that two streams write; the second one does not wait for step 0.
TEST(Slices, BytesAreFreeWhenNoStreamStillReadsThem) {
  Plan plan;
  for (int i = 0; i < 4; ++i)
    plan.storages.push_back({StorageKind::arena, i == 1 ? 512 : 256, 0, 0, 0});
  const TensorType type{DataType::float32, {64}};
  plan.tensors = {{"a", type, {}, 0},
                  {"b", type, {}, 2},
                  {"part0", type, {}, 1},
                  {"part1", type, {}, 1, 256},
                  {"z", type, {}, 3}};
  const auto step = [&](int input, int output, int stream) {
    PlanStep out;
    out.inputs = {input};
    out.outputs = {output};
    out.stream = stream;
    plan.steps.push_back(out);
  };
  step(0, 1, 0);  // storage 0 is dead afterwards, on stream 0
  step(1, 2, 0);
  step(4, 3, 1);
  plan_memory(plan);
  const auto& s = plan.storages;
  EXPECT_TRUE(s[0].offset >= s[1].offset + 512 || s[1].offset >= s[0].offset + 256);
  EXPECT_TRUE(check_memory(plan).ok());
  plan.storages[0].offset = plan.storages[1].offset + 256;
  EXPECT_FALSE(check_memory(plan).ok());
}

}  // namespace
}  // namespace enginery
