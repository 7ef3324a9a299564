// Products of quantised numbers on GPUs: which families take them, in which formats.
#include <gtest/gtest.h>

#include "tests/engine/tactics/cuda/card.h"

namespace enginery {
namespace {

using test::Card;
using test::problem_of;

std::string quantized_convolution() {
  return "dequantize | uint8[1x20x6x6] w:float32[] | then dequantize(w:int8[48x20x1x1] "
         "w:float32[48]) axis=0 | then conv(r0 r1 w:float32[48]) strides=[1,1] dilations=[1,1] "
         "pads_begin=[0,0] pads_end=[0,0] | then quantize(r2 w:float32[]) to=uint8";
}

// The first part of each id.
std::set<std::string> kinds_of(const std::vector<Tactic>& tactics) {
  std::set<std::string> out;
  for (const Tactic& t : tactics) out.insert(t.id.substr(0, t.id.find('_', t.id.find('/'))));
  return out;
}

// What reads the anchor alone would take a region for a Dequantize.
TEST(QuantizedRegions, AreOfferedByFamiliesThatTakeRegions) {
  const Problem region = problem_of(quantized_convolution());
  EXPECT_EQ(kinds_of(Card(61).offers(region)), std::set<std::string>{"conv_simt/int8"});
  EXPECT_EQ(kinds_of(Card(72).offers(region)), std::set<std::string>{"conv_simt/int8"});
  EXPECT_EQ(kinds_of(Card(75).offers(region)),
            (std::set<std::string>{"conv_mma/int8", "conv_simt/int8"}));
}

TEST(QuantizedRegions, KeepEightBitsInRowsOfSixteenChannels) {
  for (const Tactic& t : Card(90).offers(problem_of(quantized_convolution()))) {
    EXPECT_EQ(to_string(t.inputs[0]), "uint8:nhwc16") << t.id;
    EXPECT_EQ(to_string(t.outputs[0]), "uint8:nhwc") << t.id;
  }
}

TEST(QuantizedRegions, AddInTheTypesInWhichFloatsMayBeKept) {
  const Problem region = problem_of(
      "dequantize | uint8[1x20x6x6] w:float32[] | then dequantize(w:int8[48x20x1x1] "
      "w:float32[48]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] pads_begin=[0,0] "
      "pads_end=[0,0] | then binary(r2 float32[1x48x6x6]) kind=add | then quantize(r3 "
      "w:float32[]) to=int8");
  const auto types = [&](const Card& card) {
    std::set<DataType> out;
    for (const Tactic& t : card.offers(region)) out.insert(t.inputs[4].type);
    return out;
  };
  EXPECT_EQ(types(Card(90)), (std::set{DataType::float32, DataType::float16, DataType::bfloat16}));
  EXPECT_EQ(types(Card(90, {Precision::fp32})), std::set{DataType::float32});
}

TEST(QuantizedRegions, NeedRowsOfSixteenBytes) {
  const auto product = [](const std::string& k) {
    return problem_of("dequantize | int8[5x" + k + "] w:float32[] | then dequantize(w:int8[" + k +
                      "x24] w:float32[1]) axis=1 | then matmul(r0 r1)");
  };
  EXPECT_TRUE(Card(90).offers(product("72")).empty());
  EXPECT_FALSE(Card(90).offers(product("80")).empty());
}

// Whether the text of a kernel takes its sums to stay below 2^22: what all the weights and sources
// of their types can add up to.
TEST(SmallSums, AreThoseThatNoWeightsCanMakeLarge) {
  const Card card(90);
  const auto small = [&](const std::string& source, int64_t channels, const std::string& id) {
    const std::string c = std::to_string(channels);
    const Problem problem =
        problem_of("dequantize | " + source + "[1x" + c +
                   "x8x8] w:float32[] | then dequantize(w:int8[64x" + c +
                   "x1x1] w:float32[64]) axis=0 | then conv(r0 r1) strides=[1,1] dilations=[1,1] "
                   "pads_begin=[0,0] pads_end=[0,0] | then quantize(r2 w:float32[]) to=int8");
    for (const Tactic& t : card.offers(problem)) {
      if (t.id != id) continue;
      const auto plan = plan_kernel(problem, t, card.context);
      for (const auto& [name, value] : plan->program.macros)
        if (name == "SMALL_SUMS") return value;
    }
    return std::string("not offered");
  };
  constexpr const char* kWhole = "conv_mma/int8_64x64x128b_s4";
  EXPECT_EQ(small("uint8", 128, kWhole), "1");
  EXPECT_EQ(small("uint8", 144, kWhole), "0");
  EXPECT_EQ(small("int8", 240, kWhole), "1");
  EXPECT_EQ(small("int8", 256, kWhole), "0") << "256 * 128 * 128 is 2^22";
}

}  // namespace
}  // namespace enginery
