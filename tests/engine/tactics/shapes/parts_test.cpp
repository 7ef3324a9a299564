// Where the parts of a join or a cut begin in the whole, and which lie in several pieces.
#include "engine/tactics/shapes/parts.h"

#include <gtest/gtest.h>

#include "tests/support/problem_text.h"

namespace enginery {
namespace {

constexpr Layout kPlanes, kPixels{LayoutKind::channels_last, 0}, kBlocks{LayoutKind::blocked, 8};

// All inputs and outputs in one layout.
Tactic all_in(const Problem& problem, const Layout& layout) {
  Tactic tactic;
  for (const TensorDesc& d : problem.inputs) tactic.inputs.push_back({d.type.type, layout});
  for (const TensorDesc& d : problem.outputs) tactic.outputs.push_back({d.type.type, layout});
  return tactic;
}

struct PartsCase {
  const char *name, *text;
  Layout layout;
  std::vector<int64_t> offsets;  // none: in several pieces
};

const PartsCase kPartsCases[] = {
    {"channels_of_an_image",
     "concat axis=1 | float32[1x2x3x5] float32[1x4x3x5]",
     kPlanes,
     {0, 120}},
    {"channels_counted_from_the_end",
     "concat axis=-3 | float16[1x2x3x5] float16[1x4x3x5]",
     kPlanes,
     {0, 60}},
    {"channels_of_images", "concat axis=1 | float32[2x2x3x5] float32[2x4x3x5]", kPlanes, {}},
    {"channels_of_pixels", "concat axis=1 | float32[1x2x3x5] float32[1x4x3x5]", kPixels, {}},
    {"channels_of_one_pixel", "concat axis=1 | float32[1x2x1x1] float32[1x4x1x1]", kPixels, {0, 8}},
    {"channels_of_blocks", "concat axis=1 | float32[1x16x3x5] float32[1x8x3x5]", kBlocks, {0, 960}},
    {"rows_of_planes", "concat axis=2 | float32[1x2x3x5] float32[1x2x1x5]", kPlanes, {}},
    {"rows_of_pixels", "concat axis=2 | float32[1x2x3x5] float32[1x2x1x5]", kPixels, {0, 120}},
    {"images", "concat axis=0 | int8[2x3x4x5] int8[1x3x4x5] int8[2x3x4x5]", kPixels, {0, 120, 180}},
    {"padded_channels",
     "concat axis=0 | float32[1x3x4x5] float32[1x3x4x5]",
     {LayoutKind::channels_last, 8},
     {}},
    {"a_part_without_elements", "concat axis=1 | float32[1x2x3x5] float32[1x0x3x5]", kPlanes, {}},
    {"a_constant", "concat axis=1 | float32[1x2x3x5] w:float32[1x4x3x5]", kPlanes, {}},
    {"a_split", "split axis=1 sizes=[1,5] | float32[1x6x3x5]", kPlanes, {0, 60}},
    {"a_split_of_pixels", "split axis=1 sizes=[1,5] | float32[1x6x3x5]", kPixels, {}},
    {"a_slice", "slice | float32[1x6x3x5] int64[1]={2} int64[1]={5} int64[1]={1}", kPlanes, {120}},
    {"a_slice_with_steps",
     "slice | float32[1x6x3x5] int64[1]={0} int64[1]={5} int64[1]={1} "
     "int64[1]={2}",
     kPlanes,
     {}},
    {"a_slice_backwards",
     "slice | float32[1x6x1x1] int64[1]={5} int64[1]={0} int64[1]={1} "
     "int64[1]={-1}",
     kPlanes,
     {}},
    {"a_slice_of_one_element", "slice | float32[6] int64[1]={4} int64[1]={5}", kPlanes, {16}},
    {"a_slice_with_computed_bounds", "slice | float32[1x6x3x5] int64[1] int64[1]={5}", kPlanes, {}},
    {"another_operator", "transpose permutation=[0,2,1,3] | float32[1x1x3x5]", kPlanes, {}},
};

void PrintTo(const PartsCase& c, std::ostream* out) {
  *out << c.name;
}

class PartOffsets : public testing::TestWithParam<PartsCase> {};

TEST_P(PartOffsets, AreThoseOfTheOperator) {
  const auto problem = parse_problem(GetParam().text);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const auto offsets = part_offsets(*problem, all_in(*problem, GetParam().layout));
  EXPECT_EQ(offsets.has_value(), !GetParam().offsets.empty());
  EXPECT_EQ(offsets.value_or(std::vector<int64_t>()), GetParam().offsets);
}

INSTANTIATE_TEST_SUITE_P(Parts, PartOffsets, testing::ValuesIn(kPartsCases),
                         [](const auto& tested) { return tested.param.name; });

TEST(PartOffsets, AreNoneWhereAPartHasAnotherFormat) {
  const auto problem = parse_problem("concat axis=1 | float32[1x8x1x1] float32[1x8x1x1]");
  Tactic tactic = all_in(*problem, kPlanes);
  EXPECT_TRUE(part_offsets(*problem, tactic));
  tactic.inputs[1].type = DataType::float16;
  EXPECT_FALSE(part_offsets(*problem, tactic));
}

// Parts with the pitch of the whole, in channels-last.
std::optional<std::vector<int64_t>> pitched_offsets(const char* text, int64_t pitch) {
  const auto problem = parse_problem(text);
  Tactic tactic = all_in(*problem, kPixels);
  for (Format& format : tactic.inputs) format = with_pitch(format, pitch);
  return part_offsets(*problem, tactic);
}

TEST(PartOffsets, OfChannelsHaveThePitchOfTheWhole) {
  using Offsets = std::vector<int64_t>;
  constexpr char kThree[] = "concat axis=1 | float16[2x8x3x5] float16[2x16x3x5] float16[2x8x3x5]";
  EXPECT_EQ(pitched_offsets(kThree, 32), (Offsets{0, 16, 48}));
  EXPECT_EQ(pitched_offsets("concat axis=-2 | float32[2x4x3] float32[2x8x3]", 12),
            (Offsets{0, 16}));
  EXPECT_FALSE(pitched_offsets(kThree, 40));
  EXPECT_FALSE(pitched_offsets("concat axis=2 | float16[2x8x3x5] float16[2x8x3x5]", 8));
  EXPECT_FALSE(pitched_offsets("concat axis=1 | float16[2x8x3x5] float16[2x4x3x5]", 12));
  EXPECT_FALSE(pitched_offsets("concat axis=1 | float16[2x8x3x5] w:float16[2x8x3x5]", 16));
  EXPECT_FALSE(pitched_offsets("concat axis=1 | float16[2x8] float16[2x8]", 16));
}

TEST(PartOffsets, OfWhatIsCutHaveThePitchOfTheWhole) {
  using Offsets = std::vector<int64_t>;
  const auto offsets = [](const char* text, int64_t pitch) {
    const auto problem = parse_problem(text);
    Tactic tactic = all_in(*problem, kPixels);
    for (Format& format : tactic.outputs) format = with_pitch(format, pitch);
    return part_offsets(*problem, tactic);
  };
  EXPECT_EQ(offsets("split axis=1 sizes=[8,16] | float16[2x24x3x5]", 24), (Offsets{0, 16}));
  EXPECT_FALSE(offsets("split axis=1 sizes=[8,16] | float16[2x24x3x5]", 32));
  EXPECT_FALSE(offsets("split axis=1 sizes=[4,20] | float16[2x24x3x5]", 24));
  EXPECT_FALSE(offsets("split axis=2 sizes=[1,2] | float16[2x24x3x5]", 24));
  constexpr char kMiddle[] = "slice | float32[2x24x3x5] int64[1]={8} int64[1]={12} int64[1]={1}";
  EXPECT_EQ(offsets(kMiddle, 24), (Offsets{32}));
  EXPECT_FALSE(offsets("slice | float32[2x24x3x5] int64[1]={2} int64[1]={6} int64[1]={1}", 24));
  EXPECT_FALSE(
      offsets("slice | float32[2x24x3x5] int64[1]={8} int64[1]={16} int64[1]={1} "
              "int64[1]={2}",
              24));
  EXPECT_FALSE(offsets("slice | float32[2x24x3x5] int64[2]={8,0} int64[2]={12,2} int64[2]={1,2}",
                       24));  // rows of planes, too
}

TEST(PartOffsets, AreNoneWhereOnlySomePartsHaveThePitch) {
  const auto problem = parse_problem("concat axis=1 | float32[2x8x3x1] float32[2x8x3x1]");
  Tactic tactic = all_in(*problem, kPixels);
  tactic.inputs[0] = with_pitch(tactic.inputs[0], 16);
  EXPECT_FALSE(part_offsets(*problem, tactic));
  tactic.inputs[1] = tactic.inputs[0];
  EXPECT_TRUE(part_offsets(*problem, tactic));
  tactic.outputs[0] = with_pitch(tactic.outputs[0], 32);  // a part of something wider itself
  EXPECT_FALSE(part_offsets(*problem, tactic));
}

TEST(PartOffsets, OfAPartOfSomethingWiderHaveItsPitch) {
  using Offsets = std::vector<int64_t>;
  for (const char* text : {"concat axis=1 | float32[2x8x3x1] float32[2x16x3x1]",
                           "split axis=1 sizes=[8,16] | float32[2x24x3x1]"}) {
    const auto problem = parse_problem(text);
    const Tactic wide = all_in(*problem, with_pitch({DataType::float32, kPixels}, 40).layout),
                 narrow = all_in(*problem, with_pitch({DataType::float32, kPixels}, 20).layout);
    EXPECT_EQ(part_offsets(*problem, wide), (Offsets{0, 32})) << text;
    EXPECT_FALSE(part_offsets(*problem, narrow)) << text;
  }
}

TEST(JoinsParts, OnlyAConcat) {
  EXPECT_TRUE(joins_parts(*parse_problem("concat axis=0 | float32[2] float32[3]")));
  EXPECT_FALSE(joins_parts(*parse_problem("split axis=0 sizes=[2,3] | float32[5]")));
}

}  // namespace
}  // namespace enginery
