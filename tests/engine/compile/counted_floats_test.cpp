// Which nodes compute floats that count, and that engines of other precisions compute them in
// float32.
#include "engine/compile/counted_floats.h"

#include <gtest/gtest.h>

#include "tests/engine/compile/compile_support.h"
#include "tests/engine/passes/passes_support.h"

namespace enginery {
namespace {

struct CountingRow {
  std::string name, body;
  std::vector<std::string> nodes;  // operators of the nodes that count, in order
  bool exact;                      // whether %y is computed as the reference does, to the bit
};

const std::string kHalved =
    "%f = cast(%ids) to=float32\n %two = constant float32[1] {2}\n"
    " %half = binary(%f, %two) kind=div\n ";

const CountingRow kCountingRows[] = {
    {"halved_positions",
     kHalved + "%y = unary(%half) kind=floor\n %z = cast(%y) to=int64",
     {"cast", "binary", "unary", "cast"},
     true},
    {"compared_counts",
     kHalved + "%y = identity(%half)\n %z = binary(%y, %two) kind=less",
     {"cast", "binary", "identity", "binary"},
     true},
    {"logarithms_of_distances",
     kHalved + "%y = unary(%half) kind=log\n %z = cast(%y) to=int64",
     {"cast", "binary", "unary", "cast"},
     false},
    {"angles",
     kHalved + "%y = unary(%half) kind=sin\n %z = unary(%half) kind=cos",
     {"cast", "binary", "unary", "unary"},
     false},
    {"positions_by_frequencies",
     "%f = cast(%ids) to=float32\n %w = constant float32[1x3] {1, 2, 3}\n %s = constant int64[2] "
     "{8, 1}\n"
     " %c = reshape(%f, %s)\n %y = matmul(%c, %w)\n %z = unary(%y) kind=cos",
     {"cast", "reshape", "matmul", "unary"},
     false},
    {"a_mask_that_is_added",
     kHalved + "%y = binary(%half, %x) kind=add\n %z = unary(%y) kind=floor",
     {},
     false},
    {"a_mask_of_what_is_not_zero",
     kHalved + "%y = identity(%half)\n %z = cast(%y) to=boolean",
     {},
     true},
    {"numbers_that_are_multiplied",
     "%f = cast(%ids) to=float32\n %w = constant float32[8x3] random(1)\n"
     " %y = matmul(%f, %w)\n %z = cast(%y) to=int64",
     {},
     false},
    {"floats_of_a_picture", "%y = unary(%x) kind=floor\n %z = cast(%y) to=int64", {}, false},
};

void PrintTo(const CountingRow& row, std::ostream* out) {
  *out << row.name;
}

class FloatsThatCount : public testing::TestWithParam<CountingRow> {};

TEST_P(FloatsThatCount, AreFoundBetweenIntegersAndWhatNeedsThem) {
  const Graph graph = parse("input %ids : int64[8]\n input %x : float32[8]\n " + GetParam().body +
                            "\n output %y\n output %z");
  std::vector<std::string> nodes;
  for (const NodeId id : counting_nodes(graph)) nodes.emplace_back(op_name(graph.node(id).op));
  EXPECT_EQ(nodes, GetParam().nodes);
  EXPECT_EQ(counted_floats(graph).exact.at(static_cast<size_t>(graph.outputs()[0])),
            GetParam().exact);
}

INSTANTIATE_TEST_SUITE_P(Rows, FloatsThatCount, testing::ValuesIn(kCountingRows),
                         [](const auto& row) { return row.param.name; });

std::vector<std::string> placing(const std::string& body) {
  const Graph graph = parse("input %x : float32[8]\n input %w : float32[8x8]\n " + body);
  std::vector<std::string> out;
  for (const NodeId id : placing_nodes(graph))
    out.push_back(graph.value(graph.node(id).outputs[0]).name);
  return out;
}

TEST(FloatsThatPlace, AreThoseThatIntegersAreMadeOfAndWhatIsLeft) {
  const std::string half = "%two = constant float32[1] {2}\n ";
  EXPECT_EQ(
      placing(half + "%m = matmul(%x, %w)\n %place = binary(%m, %two) kind=mul\n"
                     " %floor = unary(%place) kind=floor\n %pixel = cast(%floor) to=int64\n"
                     " %rest = binary(%place, %floor) kind=sub\n"
                     " %other = binary(%two, %rest) kind=sub\n output %pixel\n output %other"),
      (std::vector<std::string>{"place", "floor", "pixel", "rest"}))
      << "not the product, and not what is computed of the rest";
  EXPECT_EQ(placing(half + "%y = binary(%x, %two) kind=mul\n %z = cast(%y) to=boolean\n output %z"),
            std::vector<std::string>{});
  EXPECT_EQ(placing(half + "%y = unary(%x) kind=floor\n %z = binary(%x, %y) kind=sub\n output %z"),
            std::vector<std::string>{})
      << "no integers";
}

// How many casts and element-wise nodes the model's network has, all of which compute in float32
// alone; other nodes have no such limit.
size_t nodes_in_float32(const test::ModelBuilder& built) {
  BuildOptions options = test::one_thread();
  options.precisions = {Precision::fp32, Precision::bf16};
  const auto model = load_model(built.source(), "net", options);
  const auto target = open_target("cpu-sse41", options);
  if (!model.ok() || !target.ok()) return ADD_FAILURE() << "no model or no target", 0;
  const auto network = lower_model(*model, *target, options);
  if (!network.ok()) return ADD_FAILURE() << network.error().message, 0;
  size_t counting = 0;
  for (const NetworkNode& node : network->nodes) {
    const bool floats = std::holds_alternative<Cast>(node.problem.op) ||
                        std::holds_alternative<Unary>(node.problem.op) ||
                        std::holds_alternative<Binary>(node.problem.op);
    EXPECT_EQ(node.precisions, floats ? std::set{Precision::fp32} : std::set<Precision>{});
    counting += floats;
  }
  return counting;
}

TEST(FloatsThatCountInEngines, AreComputedInFloat32WhateverThePrecision) {
  EXPECT_GE(nodes_in_float32(test::rows_by_halved_positions()), 1u);
  test::ModelBuilder angles;
  angles.input("x", {1024}).output("y").ints("all", {1024});
  angles.node("TopK", {"x", "all"}, {"values", "places"});
  angles.node("Cast", {"places"}, {"f"}, {{"to", 1}}).node("Cos", {"f"}, {"y"});
  EXPECT_GE(nodes_in_float32(angles), 1u);
}

TEST(FloatsThatPlaceInEngines, AreComputedInFloat32WhateverThePrecision) {
  test::ModelBuilder model;
  model.input("x", {1024})
      .output("y")
      .weights("size", {1}, {300})
      .weights("table", {513}, std::vector<float>(513));
  model.node("Mul", {"x", "size"}, {"place"}).node("Floor", {"place"}, {"pixel"});
  model.node("Cast", {"pixel"}, {"i"}, {{"to", 7}}).node("Gather", {"table", "i"}, {"y"});
  EXPECT_GE(nodes_in_float32(model), 1u);
}

}  // namespace
}  // namespace enginery
