// Wholes that are parts of wholes: channels of channels, joined and cut in the outermost one's
// memory.
#include <algorithm>

#include "tests/engine/plan/slices_support.h"

namespace enginery {
namespace {

const Format kOf32 = with_pitch(kNhwc, 32);

// %r of 24 channels, and weights for convolutions of 8, 24 and 32 channels to 8.
const std::string kBegin =
    "input %x : float32[2x16x5x5]\n %v = constant float32[24x16x3x3] random(1)\n "
    "%u = constant float32[8x8x3x3] random(2)\n %w = constant float32[8x24x3x3] random(3)\n "
    "%z = constant float32[8x32x3x3] random(4)\n %r = conv(%x, %v) " +
    kConv + "\n ";

Names names_without_the_ends(const Plan& plan) {
  Names out = step_names(plan);
  std::erase_if(out, [](const std::string& name) {
    return name == "reformat x" || name.starts_with("reformat g");
  });
  return out;
}

// As in a DenseNet: each layer reads all before it, which lie where the last join has them.
TEST(NestedSlices, AWholeIsReadAsChannelsOfTheWiderOne) {
  const auto plan = pitched_plan(kBegin + "%e = conv(%r, %w) " + kConv +
                                     "\n %c = concat(%r, %e) axis=1\n %f = conv(%c, %z) " + kConv +
                                     "\n %d = concat(%c, %f) axis=1\n %y = constant "
                                     "float32[8x40x3x3] random(5)\n %g = conv(%d, %y) " +
                                     kConv + "\n output %g",
                                 1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_without_the_ends(*plan), (Names{"r", "e", "c", "f", "d", "g"}));
  const Format of_40 = with_pitch(kNhwc, 40);
  const PlanTensor& whole = tensor(*plan, "d", kNhwc);
  for (const auto& [name, channel] : {std::pair{"r", 0}, {"e", 24}, {"c", 0}, {"f", 32}}) {
    EXPECT_EQ(tensor(*plan, name, of_40).storage, whole.storage) << name;
    EXPECT_EQ(tensor(*plan, name, of_40).offset, channel * 4) << name;
  }
  EXPECT_EQ(plan->storages[static_cast<size_t>(whole.storage)].bytes, 2 * 25 * 40 * 4);
}

// As in a C2f block of YOLO: what is cut is a part of what is joined behind it.
TEST(NestedSlices, APieceOfAPartIsReadInTheWiderWhole) {
  const auto plan =
      pitched_plan(kBegin + "%a, %b = split(%r) axis=1 sizes=[16,8]\n %e = conv(%b, %u) " + kConv +
                       "\n %c = concat(%r, %e) axis=1\n %g = conv(%c, %z) " + kConv +
                       "\n %h = constant float32[8x16x3x3] random(6)\n %k = conv(%a, %h) " + kConv +
                       "\n %m = binary(%g, %k) kind=add\n output %m",
                   1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  const PlanTensor& whole = tensor(*plan, "c", kNhwc);
  for (const auto& [name, channel] : {std::pair{"r", 0}, {"a", 0}, {"b", 16}, {"e", 24}}) {
    EXPECT_EQ(tensor(*plan, name, kOf32).storage, whole.storage) << name;
    EXPECT_EQ(tensor(*plan, name, kOf32).offset, channel * 4) << name;
  }
  EXPECT_EQ(
      std::ranges::count_if(step_names(*plan),
                            [](const std::string& name) { return name.starts_with("reformat r"); }),
      0);
}

// As in a CSP block: a is cut out of 24 channels and joined into 24 others. Only a is copied.
TEST(NestedSlices, APieceIsCopiedIntoAnEquallyWideWhole) {
  const auto plan = pitched_plan(
      kBegin + "%a, %b = split(%r) axis=1 sizes=[16,8]\n %e = conv(%b, %u) " + kConv +
          "\n %c = concat(%a, %e) axis=1\n %g = conv(%c, %w) " + kConv + "\n output %g",
      1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(names_without_the_ends(*plan), (Names{"r", "a", "e", "reformat a", "c", "g"}));
  const Format of_24 = with_pitch(kNhwc, 24), of_28 = with_pitch(kNhwc, 28);
  const PlanTensor& whole = tensor(*plan, "c", of_28);
  EXPECT_EQ(tensor(*plan, "a", of_24).storage, tensor(*plan, "r", kNhwc).storage);
  EXPECT_EQ(tensor(*plan, "a", of_28).storage, whole.storage);
  EXPECT_EQ(tensor(*plan, "e", of_28).storage, whole.storage);
  EXPECT_EQ(tensor(*plan, "e", of_28).offset, 16 * 4);
  EXPECT_NE(whole.storage, tensor(*plan, "r", kNhwc).storage);
}

TEST(NestedSlices, AWholeWithAPitchIsCopiedForWhoCannotReadItSo) {
  const auto plan =
      pitched_plan(kBegin + "%a, %b = split(%r) axis=1 sizes=[16,8]\n %e = conv(%b, %u) " + kConv +
                       "\n %c = concat(%a, %e) axis=1\n %g = act(%c) kind=tanh\n output %g",
                   1, Reading::pitched);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat a"), 1);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat e"), 0);
  EXPECT_EQ(std::ranges::count(step_names(*plan), "reformat c"), 1);
}

// It would write pixels one behind the other over pixels that are still to be read.
TEST(NestedSlices, WhatIsReadWithAPitchIsNotOverwritten) {
  Fixture f;
  f.source->writes_pitched = f.source->reads_pitched = f.source->overwrites_its_input = true;
  const auto cut =
      f.plan_text(kBegin + "%a, %b = split(%r) axis=1 sizes=[16,8]\n %g = conv(%b, %u) " + kConv +
                  "\n output %g");
  ASSERT_TRUE(cut) << cut.error().message;
  const auto step = std::ranges::find(cut->steps, "g", &PlanStep::name);
  ASSERT_NE(step, cut->steps.end());
  EXPECT_EQ(step->tactic.inputs[0], with_pitch(kNhwc, 24));
  EXPECT_EQ(step->tactic.in_place_operand, -1);
  EXPECT_NE(tensor(*cut, "g", kNhwc).storage, tensor(*cut, "r", kNhwc).storage);
}

}  // namespace
}  // namespace enginery
