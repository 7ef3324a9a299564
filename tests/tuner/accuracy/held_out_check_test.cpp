// A network held against the float model on rows, and which of its layers lose most in 8 bits.
#include "tuner/accuracy/held_out_check.h"

#include <gtest/gtest.h>

#include "engine/graph/made_up_inputs.h"
#include "engine/graph/text.h"
#include "tuner/accuracy/held_out_rows.h"
#include "tuner/accuracy/sensitivity.h"

namespace enginery {
namespace {

const WatchOptions kPlain{"cpu-sse41", 1};
const RowProgress kSilent = [](int64_t, int64_t) { return Status(); };
constexpr int64_t kRows = 5;

// Two convolutions, of which the second's input is %r; classes at the end. The batch is 2.
Graph classifier() {
  const char* const kConv =
      "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1\n";
  auto graph = parse_graph(
      "graph net {\n input %x : float32[2x4x3x3]\n"
      "%w = constant float32[4x4x1x1] random(1)\n"
      "%c = conv(%x, %w) " +
      std::string(kConv) +
      "%r = act(%c) kind=relu\n"
      "%v = constant float32[6x4x3x3] random(2)\n"
      "%d = conv(%r, %v) " +
      kConv + "output %d\n}");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  return *graph;
}

Bytes rows_of(int64_t rows) {
  return encode_rows({{"x", made_up_input({DataType::float32, {rows, 4, 3, 3}}, {-1, 1}, 7)}});
}

HeldOutCheck check_of(const Graph& graph) {
  auto check = HeldOutCheck::make(graph, rows_of(kRows), kPlain, kSilent);
  EXPECT_TRUE(check.ok()) << check.error().message;
  return std::move(*check);
}

TEST(HeldOutCheck, TheFloatModelIsNearItself) {
  const Graph graph = classifier();
  HeldOutCheck check = check_of(graph);
  const auto model = WatchedModel::make(graph, kPlain);
  ASSERT_TRUE(model.ok());
  int64_t done = 0;
  const auto figures = check.compare(network_of(**model, graph), [&](int64_t rows, int64_t) {
    done = rows;
    return Status();
  });
  ASSERT_TRUE(figures.ok()) << figures.error().message;
  ASSERT_EQ(figures->outputs.size(), 1u) << "values within the model are no outputs";
  EXPECT_EQ(figures->rows(), kRows) << "the padding of the last batch is none";
  EXPECT_EQ(done, kRows);
  EXPECT_EQ(figures->agreement_percent(), 100);
  EXPECT_EQ(figures->sqnr_db(), kMostDecibels);
  const auto two = check.compare(network_of(**model, graph), kSilent, 1);
  EXPECT_EQ(two->rows(), 2) << "whole batches";
}

TEST(HeldOutCheck, CountsWhatAnotherNetworkGets) {
  const Graph graph = classifier();
  HeldOutCheck check = check_of(graph);
  const auto figures = check.compare(
      [](const auto& inputs) -> Result<std::vector<Tensor>> {
        EXPECT_EQ(inputs.at("x").dims(), (Dims{2, 4, 3, 3}));
        Tensor none(DataType::float32, {2, 6, 1, 1});
        std::ranges::fill(none.mutable_data<float>(), 0.0f);
        return std::vector{none};
      },
      kSilent);
  ASSERT_TRUE(figures.ok());
  EXPECT_NEAR(figures->sqnr_db(), 0, 1e-9);
  EXPECT_LT(*figures->agreement_percent(), 100);
}

TEST(HeldOutCheck, RefusesRowsOfAnotherModelAndNone) {
  const Bytes narrow =
      encode_rows({{"x", made_up_input({DataType::float32, {2, 3, 3, 3}}, {-1, 1}, 7)}});
  EXPECT_FALSE(HeldOutCheck::make(classifier(), narrow, kPlain, kSilent).ok());
  EXPECT_EQ(HeldOutCheck::make(classifier(), rows_of(0), kPlain, kSilent).error().code,
            ErrorCode::invalid_argument);
  const auto cancelled = [](int64_t, int64_t) -> Status {
    return Error{ErrorCode::cancelled, "no"};
  };
  EXPECT_EQ(HeldOutCheck::make(classifier(), rows_of(2), kPlain, cancelled).error().code,
            ErrorCode::cancelled);
}

TEST(HeldOutCheck, CountsLabelsWhichItsRowsMayBring) {
  const Graph graph = classifier();
  HeldOutRows rows = {{"x", made_up_input({DataType::float32, {3, 4, 3, 3}}, {-1, 1}, 7)},
                      {kRowLabels, Tensor::of<int64_t>({3}, {0, 1, 2})}};
  auto check = HeldOutCheck::make(graph, encode_rows(rows), kPlain, kSilent);
  ASSERT_TRUE(check.ok()) << check.error().message;
  const auto always_two = [](const auto&) -> Result<std::vector<Tensor>> {
    Tensor out(DataType::float32, {2, 6, 1, 1});
    for (size_t i = 0; i < 12; ++i) out.mutable_data<float>()[i] = i % 6 == 2 ? 1.0f : 0.0f;
    return std::vector{out};
  };
  const auto figures = check->compare(always_two, kSilent);
  ASSERT_TRUE(figures.ok());
  ASSERT_NE(figures->labelled(), nullptr);
  EXPECT_EQ(figures->labelled()->right, 1) << "the third row, of the second batch";
  rows[kRowLabels] = Tensor::of<int64_t>({2}, {0, 1});
  EXPECT_EQ(HeldOutCheck::make(graph, encode_rows(rows), kPlain, kSilent).error().code,
            ErrorCode::invalid_argument);
}

// The second layer's scale clips nearly all of its input.
TEST(LayerSensitivity, NamesTheLayerThatLosesMostFirst) {
  const Graph graph = classifier();
  HeldOutCheck check = check_of(graph);
  const auto layers =
      layer_sensitivity(graph, {{{"x", 1.0f / 127}, {"r", 0.001f}}}, {}, check, kPlain, kSilent);
  ASSERT_TRUE(layers.ok()) << layers.error().message;
  ASSERT_EQ(layers->size(), 2u);
  EXPECT_EQ((*layers)[0].layer, "d");
  EXPECT_LT((*layers)[0].sqnr_db, 10);
  EXPECT_EQ((*layers)[1].layer, "c");
  EXPECT_GT((*layers)[1].sqnr_db, 25) << "the other layer stays in float";
  EXPECT_EQ(to_text(LayerSensitivity{"d", 3.25, 20}), "d 3.2 dB, drop 20.00 %");
}

}  // namespace
}  // namespace enginery
