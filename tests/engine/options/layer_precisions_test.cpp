// Precisions asked for by layers' names: their text, and which one holds.
#include "engine/options/layer_precisions.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

std::string holds(const std::string& asked, const std::string& layer) {
  const auto parsed = parse_layer_precisions(asked);
  if (!parsed.ok()) return parsed.error().message;
  const auto precision = precision_of(*parsed, layer);
  return precision ? std::string(to_string(*precision)) : "none";
}

TEST(LayerPrecisions, ANameGoesBeforePatternsWhereverItStands) {
  EXPECT_EQ(holds("conv1:fp32,*:fp16", "conv1"), "fp32");
  EXPECT_EQ(holds("*:fp16,conv1:fp32", "conv1"), "fp32");
  EXPECT_EQ(holds("*:fp16,conv1:fp32", "conv2"), "fp16");
  EXPECT_EQ(holds("*:fp32,conv1:int8", "conv1"), "int8");
}

TEST(LayerPrecisions, TheLastPatternHolds) {
  EXPECT_EQ(holds("a*:fp16,*b:bf16", "ab"), "bf16");
  EXPECT_EQ(holds("*b:bf16,a*:fp16", "ab"), "fp16");
}

TEST(LayerPrecisions, AStarStandsForAnyCharacters) {
  for (const char* pattern : {"*", "head*", "*conv", "head*conv", "h*d/*v", "head/conv*"})
    EXPECT_EQ(holds(std::string(pattern) + ":fp16", "head/conv"), "fp16") << pattern;
  for (const char* pattern : {"head", "conv", "*head", "head/conv?", "*x*", "head/*conv2", "h*x*v"})
    EXPECT_EQ(holds(std::string(pattern) + ":fp16", "head/conv"), "none") << pattern;
}

TEST(LayerPrecisions, SayWhatIsNoneOfThem) {
  EXPECT_NE(holds("conv1:int9", "").find("behind the colon"), std::string::npos);
  EXPECT_NE(holds("a\nb:fp16", "").find("control characters"), std::string::npos);
}

}  // namespace
}  // namespace enginery
