// What is said of products whose activations have zero points.
#include "engine/compile/zero_point_note.h"

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

// A product behind another one, whose activations have these zero points.
std::string note_of(const std::string& first, const std::string& second) {
  BuildOptions provisional;
  provisional.provisional = true;
  const auto target = open_target("h200", provisional);
  if (!target.ok()) return "a build without GPUs";
  const LoadedModel model = test::loaded_from(
      "input %x : float32[64x64]\n %s = constant float32[] {0.1}\n %z = constant uint8[] {" +
          first + "}\n %y = constant uint8[] {" + second +
          "}\n %i = constant int8[64x64] random(1)\n %w = dequantize(%i, %s)\n"
          " %a = quantize(%x, %s, %z) to=uint8\n %b = dequantize(%a, %s, %z)\n"
          " %c = matmul(%b, %w)\n %d = quantize(%c, %s, %y) to=uint8\n"
          " %e = dequantize(%d, %s, %y)\n %f = matmul(%e, %w)\n output %f",
      {});
  const auto network = lower(model.graph, target->sources, {Precision::fp32, Precision::int8});
  EXPECT_TRUE(network.ok()) << network.error().message;
  return zero_point_note(*network);
}

TEST(ZeroPointNote, CountsTheProductsThatADeviceLeavesInFloat) {
  if (note_of("0", "0") == "a build without GPUs") GTEST_SKIP() << "a build without GPUs";
  EXPECT_EQ(note_of("0", "0"), "");
  EXPECT_EQ(note_of("0", "128"), "") << "int8 without a zero point";
  EXPECT_NE(note_of("3", "0").find("1 of 2 products"), std::string::npos) << note_of("3", "0");
  EXPECT_NE(note_of("3", "7").find("2 of 2 products"), std::string::npos) << note_of("3", "7");
}

}  // namespace
}  // namespace enginery
