// Layers that lose too much stay in float, and no more than have to.
#include "tuner/accuracy/layer_budget.h"

#include <gtest/gtest.h>

#include "engine/graph/made_up_inputs.h"
#include "engine/graph/text.h"
#include "tuner/accuracy/held_out_rows.h"

namespace enginery {
namespace {

const WatchOptions kOnSse41{"cpu-sse41", 1};
// The scale of the second layer's input clips nearly all of it.
const TensorScales kOneBadScale = {{{"x", 1.0f / 127}, {"r", 0.0005f}}};

// Two convolutions; no output has classes, so the drop is the noise's share.
Graph two_layers() {
  const std::string conv =
      "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1\n";
  auto graph = parse_graph(
      "graph net {\n input %x : float32[1x4x4x4]\n"
      "%w = constant float32[4x4x1x1] random(1)\n%c = conv(%x, %w) " +
      conv +
      "%r = act(%c) kind=relu\n%v = constant float32[6x4x3x3] random(2)\n%d = conv(%r, %v) " +
      conv + "output %d\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *graph;
}

Result<FloatLayers> kept_within(double percent, const TensorScales& scales,
                                const LayerFilter& wanted = {}) {
  const Graph graph = two_layers();
  const Bytes rows =
      encode_rows({{"x", made_up_input({DataType::float32, {4, 4, 4, 4}}, {-1, 1}, 7)}});
  auto check = HeldOutCheck::make(graph, rows, kOnSse41, [](int64_t, int64_t) { return Status(); });
  EXPECT_TRUE(check.ok()) << check.error().message;
  LayerBudget budget;
  budget.max_drop_percent = percent;
  budget.device = kOnSse41;
  budget.wanted = wanted;
  return layers_in_float(graph, scales, *check, budget);
}

TEST(LayerBudget, KeepsTheLayerThatLosesMostInFloat) {
  const auto kept = kept_within(5, kOneBadScale);
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_EQ(kept->layers, std::set<std::string>{"d"});
  EXPECT_EQ(kept->int8_layers, 1u);
  EXPECT_EQ(kept->sensitivities.size(), 2u);
  EXPECT_GT(kept->all.drop_percent(), 5);
  EXPECT_LE(kept->kept.drop_percent(), 5);
}

TEST(LayerBudget, KeepsNoneWhereAllAreWithinIt) {
  const auto kept = kept_within(5, {{{"x", 1.0f / 127}, {"r", 2.0f / 127}}});
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_TRUE(kept->layers.empty());
  EXPECT_EQ(kept->int8_layers, 2u);
}

TEST(LayerBudget, MeasuresWithoutTheLayersThatAreInFloatInAnyCase) {
  const auto kept =
      kept_within(5, kOneBadScale, [](const std::string& layer) { return layer != "d"; });
  ASSERT_TRUE(kept.ok()) << kept.error().message;
  EXPECT_TRUE(kept->layers.empty());
  EXPECT_EQ(kept->int8_layers, 1u);
}

TEST(LayerBudget, SaysThatNoLayerMayBeQuantized) {
  const auto refused = kept_within(0, kOneBadScale);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("each alone in int8: d "), std::string::npos)
      << refused.error().message;
}

TEST(FloatLayers, ComeBackFromTheirBlob) {
  const std::set<std::string> layers = {"conv 1", "a\nb"};
  EXPECT_EQ(parse_float_layers(write_float_layers(layers)).value(), layers);
  EXPECT_EQ(write_float_layers({}), "[]");
  for (const char* bytes : {"", "{}", "[1]", "[\"a\""})
    EXPECT_EQ(parse_float_layers(bytes).error().code, ErrorCode::invalid_argument) << bytes;
}

}  // namespace
}  // namespace enginery
