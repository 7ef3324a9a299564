#include "engine/passes/raise_quantize.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const std::string kJoined =
    "input %a : float32[1x2x4x4]\n input %b : float32[1x3x4x4]\n %s = constant float32[] {0.03}\n "
    "%z = constant uint8[] {7}\n %c = concat(%a, %b) axis=1\n ";

std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> out;
  for (const NodeId id : graph.topological_order()) out.emplace_back(op_name(graph.node(id).op));
  return out;
}

TEST(RaiseQuantize, JoinsQuantizedNumbers) {
  Graph g = parse(kJoined +
                  "%q = quantize(%c, %s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n output %y");
  EXPECT_EQ(run(raise_quantize, g), 1);
  EXPECT_EQ(operators(g),
            (std::vector<std::string>{"quantize", "quantize", "concat", "dequantize"}));
}

TEST(RaiseQuantize, GoesThroughSeveralConcats) {
  Graph g = parse(kJoined +
                  "%d = concat(%c, %a) axis=1\n %q = quantize(%d, %s, %z) to=uint8\n %y = "
                  "dequantize(%q, %s, %z)\n output %y");
  EXPECT_EQ(run(raise_quantize, g), 2);
  EXPECT_EQ(std::ranges::count(operators(g), "concat"), 2);
  EXPECT_EQ(std::ranges::count(operators(g), "quantize"), 3);
}

const std::string kImage =
    "input %a : float32[1x2x4x4]\n %s = constant float32[] {0.03}\n %z = constant uint8[] {7}\n ";

TEST(RaiseQuantize, TakesMaximaOfIntegers) {
  Graph g = parse(kImage +
                  "%p = pool(%a) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] "
                  "pads_begin=[0,0] pads_end=[0,0]\n %f = flatten(%p) axis=1\n %q = quantize(%f, "
                  "%s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(raise_quantize, g), 2);
  EXPECT_EQ(operators(g), (std::vector<std::string>{"quantize", "pool", "flatten", "dequantize"}));
  expect_same_results(before, g, 0);
}

TEST(RaiseQuantize, DropsWhatGivesTheIntegersBack) {
  Graph g = parse(kImage +
                  "%q = quantize(%a, %s, %z) to=uint8\n %d = dequantize(%q, %s, %z)\n %p = "
                  "pool(%d) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
                  "pads_end=[0,0]\n %t = constant float32[] {0.03}\n %r = quantize(%p, %t, %z) "
                  "to=uint8\n %y = dequantize(%r, %t, %z)\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(raise_quantize, g), 2);
  EXPECT_EQ(std::ranges::count(operators(g), "quantize"), 1);
  expect_same_results(before, g, 0);
}

// As ONNX Runtime's quantize_static writes it: the integers of a concat go through a maximum.
TEST(RaiseQuantize, GoesThroughAMaximumOfWhatWasJoined) {
  Graph g = parse(
      kJoined +
      "%q = quantize(%c, %s, %z) to=uint8\n %d = dequantize(%q, %s, %z)\n %p = pool(%d) kind=max "
      "kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]\n %r = "
      "quantize(%p, %s, %z) to=uint8\n %y = dequantize(%r, %s, %z)\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(raise_quantize, g), 3);
  EXPECT_EQ(operators(g),
            (std::vector<std::string>{"quantize", "quantize", "concat", "pool", "dequantize"}));
  expect_same_results(before, g, 0);
}

const std::string kBytes =
    "input %u : uint8[1x2x4x4]\n %k = constant float32[] {0.003921569}\n %c = cast(%u) "
    "to=float32\n ";

TEST(RaiseQuantize, DropsWhatGivesBytesThatWereCastBack) {
  for (const char* between : {"%m = binary(%c, %k) kind=mul\n", "%m = binary(%k, %c) kind=mul\n",
                              "%d = constant float32[] {255}\n %m = binary(%c, %d) kind=div\n"}) {
    Graph g = parse(kBytes + between +
                    " %q = quantize(%m, %k) to=uint8\n %y = dequantize(%q, %k)\n output %y");
    const Graph before = g;
    EXPECT_EQ(run(raise_quantize, g), 1) << between;
    EXPECT_EQ(operators(g), std::vector<std::string>{"dequantize"}) << between;
    expect_same_results(before, g, 0);
  }
}

TEST(RaiseQuantize, KeepsWhatCountsCastBytesOtherwise) {
  for (const char* between :
       {"%m = binary(%c, %k) kind=add\n", "%m = binary(%k, %c) kind=div\n",
        "%d = constant float32[] {250}\n %m = binary(%c, %d) kind=div\n",
        "%d = constant float32[2x1x1] {255, 255}\n %m = binary(%c, %d) kind=div\n"}) {
    Graph g = parse(kBytes + between +
                    " %q = quantize(%m, %k) to=uint8\n %y = dequantize(%q, %k)\n output %y");
    EXPECT_EQ(run(raise_quantize, g), 0) << between;
  }
}

struct LeftAlone {
  std::string name, body;
};
const LeftAlone kLeftAlone[] = {
    {"what_others_read_in_float",
     "%q = quantize(%c, %s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n %o = act(%c) kind=relu\n "
     "output %y\n output %o"},
    {"an_output",
     "%q = quantize(%c, %s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n output %y\n output %c"},
    {"a_scale_for_each_channel",
     "%t = constant float32[5] {1, 2, 3, 4, 5}\n %q = quantize(%c, %t) axis=1 to=int8\n %y = "
     "dequantize(%q, %t) axis=1\n output %y"},
    {"a_scale_of_run_time",
     "input %t : float32[]\n %q = quantize(%c, %t) to=int8\n %y = dequantize(%q, %t)\n output %y"},
    {"an_average",
     "%p = pool(%c) kind=average kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
     "pads_end=[0,0]\n %q = quantize(%p, %s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n output "
     "%y"},
    {"a_maximum_in_16_bits",
     "%p = pool(%c) kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[0,0] "
     "pads_end=[0,0]\n %q = quantize(%p, %s) to=int16\n %y = dequantize(%q, %s)\n output %y"},
    {"integers_of_another_zero_point",
     "%i = quantize(%a, %s) to=uint8\n %d = dequantize(%i, %s)\n %q = quantize(%d, %s, %z) "
     "to=uint8\n %y = "
     "dequantize(%q, %s, %z)\n output %y\n output %c"},
    {"integers_of_another_scale",
     "%t = constant float32[] {0.04}\n %i = quantize(%a, %t, %z) to=uint8\n %d = dequantize(%i, "
     "%t, %z)\n %q = "
     "quantize(%d, %s, %z) to=uint8\n %y = dequantize(%q, %s, %z)\n output %y\n output %c"},
};

void PrintTo(const LeftAlone& row, std::ostream* out) {
  *out << row.name;
}

class RaiseQuantizeLeaves : public testing::TestWithParam<LeftAlone> {};

TEST_P(RaiseQuantizeLeaves, AsItIs) {
  Graph g = parse(kJoined + GetParam().body);
  EXPECT_EQ(run(raise_quantize, g), 0);
}

INSTANTIATE_TEST_SUITE_P(Graphs, RaiseQuantizeLeaves, testing::ValuesIn(kLeftAlone),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace enginery
