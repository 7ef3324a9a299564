// 8-bit integers whose zero point the other type of 8 bits does not need.
#include "engine/passes/drop_zero_points.h"

#include <gtest/gtest.h>

#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

const std::string kScale =
    "input %a : float32[1x2x4x4]\n %s = constant float32[] {0.03}\n %t = constant float32[] "
    "{0.05}\n %z = constant int8[] {-128}\n %m = constant uint8[] {128}\n %f = constant int8[] "
    "{5}\n ";
const std::string kMaximum =
    " kind=max kernel=[2,2] strides=[2,2] dilations=[1,1] pads_begin=[1,1] pads_end=[0,0]\n ";

// The types of all results of Quantize and of what moves them, in order.
std::string types(const Graph& graph) {
  std::string out;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    if (!std::holds_alternative<Dequantize>(node.op))
      out += std::string(to_string(graph.value(node.outputs[0]).type.type)) + " ";
    else
      EXPECT_EQ(node.inputs.size(), 2u);
  }
  return out;
}

TEST(DropZeroPoints, TheLowestInt8IsTheLowestUint8) {
  Graph g =
      parse(kScale + "%q = quantize(%a, %s, %z) to=int8\n %y = dequantize(%q, %t, %z)\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(drop_zero_points, g), 2);
  EXPECT_EQ(types(g), "uint8 ");
  expect_same_results(before, g, 0);
}

TEST(DropZeroPoints, TheMiddleOfUint8IsZeroOfInt8) {
  Graph g = parse(kScale +
                  "%q = quantize(%a, %s, %m) to=uint8\n %y = dequantize(%q, %s, %m)\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(drop_zero_points, g), 2);
  EXPECT_EQ(types(g), "int8 ");
  expect_same_results(before, g, 0);
}

TEST(DropZeroPoints, WhatMovesTheIntegersFollows) {
  Graph g = parse(kScale +
                  "%q = quantize(%a, %s, %z) to=int8\n %r = quantize(%a, %t, %z) to=int8\n %c = "
                  "concat(%q, %r) axis=1\n %p = pool(%c)" +
                  kMaximum +
                  "%u = transpose(%p) permutation=[0,2,3,1]\n %v = flatten(%u) axis=1\n %x = "
                  "dequantize(%v, %s, %z)\n %y = dequantize(%p, %s, %z)\n output %x\n output %y");
  const Graph before = g;
  EXPECT_EQ(run(drop_zero_points, g), 4);
  EXPECT_EQ(types(g), "uint8 uint8 uint8 uint8 uint8 uint8 ");
  expect_same_results(before, g, 0);
}

struct Kept {
  std::string name, body;
};
const Kept kKept[] = {
    {"an_output",
     "%q = quantize(%a, %s, %z) to=int8\n %y = dequantize(%q, %s, %z)\n output %y\n "
     "output %q"},
    {"an_input", "input %q : int8[4]\n %y = dequantize(%q, %s, %z)\n output %y"},
    {"another_zero_point",
     "%q = quantize(%a, %s, %f) to=int8\n %y = dequantize(%q, %s, %f)\n output %y"},
    {"another_zero_point_behind",
     "%q = quantize(%a, %s, %z) to=int8\n %y = dequantize(%q, %s, %f)\n output %y"},
    {"none", "%q = quantize(%a, %s) to=int8\n %y = dequantize(%q, %s)\n output %y"},
    {"joined_with_another_zero_point",
     "%q = quantize(%a, %s, %z) to=int8\n %r = quantize(%a, %s, %f) to=int8\n %c = concat(%q, %r) "
     "axis=1\n %y = dequantize(%c, %s, %z)\n output %y"},
    {"read_as_numbers",
     "%q = quantize(%a, %s, %z) to=int8\n %y = dequantize(%q, %s, %z)\n %i = "
     "cast(%q) to=int32\n output %y\n output %i"},
};

void PrintTo(const Kept& row, std::ostream* out) {
  *out << row.name;
}

class DropZeroPointsLeaves : public testing::TestWithParam<Kept> {};

TEST_P(DropZeroPointsLeaves, AsItIs) {
  Graph g = parse(kScale + GetParam().body);
  EXPECT_EQ(run(drop_zero_points, g), 0);
}

INSTANTIATE_TEST_SUITE_P(Graphs, DropZeroPointsLeaves, testing::ValuesIn(kKept),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace enginery
