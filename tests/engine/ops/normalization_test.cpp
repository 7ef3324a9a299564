#include "engine/ops/normalization.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(BatchNorm, ScalesEachChannel) {
  Tensor x = floats({1, 2, 2}, {1, 2, 10, 20});
  expect_near(run(BatchNorm{.epsilon = 0}, {x, floats({2}, {2, 1}), floats({2}, {0, 5}),
                                            floats({2}, {1, 10}), floats({2}, {4, 25})}),
              {0, 1, 5, 7});
  expect_near(run(BatchNorm{.epsilon = 3}, {floats({1, 1}, {6}), floats({1}, {1}), floats({1}, {0}),
                                            floats({1}, {2}), floats({1}, {1})}),
              {2});
}

TEST(BatchNorm, SaysWhatItExpected) {
  auto with = [](Dims x, Dims scale, float epsilon) {
    return infer_of(BatchNorm{epsilon}, {f32(x), f32(scale), f32({2}), f32({2}), f32({2})});
  };
  EXPECT_REFUSED(with({1, 2, 3}, {3}, 1e-5f), "scale as a vector of 2");
  EXPECT_REFUSED(with({2}, {2}, 1e-5f), "2 or more dimensions");
  EXPECT_REFUSED(with({1, 2, 3}, {2}, -1), "epsilon");
  EXPECT_EQ(with({-2, 2, -3}, {2}, 1e-5f)->at(0).dims, (Dims{-2, 2, -3}));
}

TEST(Lrn, DividesByTheNeighboursSquares) {
  Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  // size 2 sees this channel and the next: squares 5, 13, 25, 16; alpha / size = 1.
  expect_near(run(Lrn{.size = 2, .alpha = 2, .beta = 1, .bias = 0}, {x}),
              {1.f / 5, 2.f / 13, 3.f / 25, 4.f / 16});
  // size 3 sees one on both sides.
  expect_near(run(Lrn{.size = 3, .alpha = 3, .beta = 0.5f, .bias = 2}, {x}),
              {1 / std::sqrt(7.f), 2 / std::sqrt(16.f), 3 / std::sqrt(31.f), 4 / std::sqrt(27.f)});
  EXPECT_REFUSED(infer_of(Lrn{.size = 0}, {f32({1, 2, 3})}), "size of at least 1");
  EXPECT_EQ(values(run(Lrn{.size = INT64_MAX, .alpha = 0}, {x})), values(x));
}

TEST(InstanceNorm, UsesEachPlanesOwnMoments) {
  Tensor x = floats({1, 2, 2}, {1, 3, 10, 10});
  expect_near(run(InstanceNorm{.epsilon = 0.0f},
                  {floats({1, 1, 2}, {1, 3}), floats({1}, {2}), floats({1}, {5})}),
              {3, 7});
  expect_near(run(InstanceNorm{.epsilon = 1}, {x, floats({2}, {1, 1}), floats({2}, {0, 4})}),
              {-1 / std::sqrt(2.f), 1 / std::sqrt(2.f), 4, 4});
  EXPECT_REFUSED(infer_of(InstanceNorm{}, {f32({1, 2, 2}), f32({3}), f32({2})}),
                 "scale as a vector of 2");
}

TEST(LayerNorm, NormalisesFromTheAxisOn) {
  Tensor x = floats({2, 2}, {1, 3, 10, 30});
  expect_near(run(LayerNorm{.epsilon = 0}, {x, floats({2}, {1, 2}), floats({2}, {0, 1})}),
              {-1, 3, -1, 3});
  expect_near(run(LayerNorm{.epsilon = 0}, {x, floats({2}, {1, 1})}), {-1, 1, -1, 1});
  expect_near(
      run(LayerNorm{.axis = 0, .epsilon = 0}, {floats({2, 1}, {1, 3}), floats({2, 1}, {1, 1})}),
      {-1, 1});
}

TEST(LayerNorm, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(LayerNorm{.axis = 2}, {f32({2, 3}), f32({3})}), "axis 2");
  EXPECT_REFUSED(infer_of(LayerNorm{}, {f32({2, 3}), f32({4})}), "scale and bias of 3");
  EXPECT_REFUSED(infer_of(LayerNorm{}, {f32({2, 3}), f32({2, 3})}), "scale and bias of 3");
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  const Tensor x = floats({2, 2}, {3, 4, 0, 5});
  const float root = std::sqrt(12.5f);
  expect_near(run(RmsNorm{.epsilon = 0}, {x, floats({2}, {1, 2})}),
              {3 / root, 8 / root, 0, 10 / root});
  expect_near(run(RmsNorm{.axis = 0, .epsilon = 0}, {floats({2, 1}, {3, 4}), floats({1}, {1})}),
              {3 / root, 4 / root});
  expect_near(run(RmsNorm{.epsilon = 4}, {floats({1}, {0}), floats({1}, {1})}), {0});
  EXPECT_REFUSED(infer_of(RmsNorm{}, {f32({2, 3}), f32({4})}), "scale and bias of 3");
  EXPECT_REFUSED(infer_of(RmsNorm{}, {f32({2, 3}), f32({3}), f32({3})}), "inputs");
}

TEST(GroupNorm, UsesTheMomentsOfItsGroup) {
  // Channels 0 and 1 are one group, 2 and 3 another; each channel has its own scale and bias.
  const Tensor x = floats({1, 4, 1}, {1, 3, 10, 30});
  const Tensor scale = floats({4}, {1, 2, 3, 4}), bias = floats({4}, {0, 0, 1, 1});
  expect_near(run(GroupNorm{.groups = 2, .epsilon = 0}, {x, scale, bias}), {-1, 2, -2, 5});
  EXPECT_EQ(values(run(GroupNorm{.groups = 4}, {x, scale, bias})),
            values(run(InstanceNorm{}, {x, scale, bias})));
  EXPECT_REFUSED(infer_of(GroupNorm{3}, {f32({1, 4, 2}), f32({4}), f32({4})}),
                 "groups that divide the channels");
  EXPECT_REFUSED(infer_of(GroupNorm{0}, {f32({1, 4, 2}), f32({4}), f32({4})}), "got 0");
}

TEST(Softmax, SumsToOneAlongItsAxis) {
  Tensor x = floats({2, 2}, {0, std::log(3.f), 1000, 1000});
  expect_near(run(Softmax{}, {x}), {0.25f, 0.75f, 0.5f, 0.5f});
  expect_near(run(Softmax{.axis = 0}, {floats({2, 2}, {0, 5, 0, 5})}), {0.5f, 0.5f, 0.5f, 0.5f});
  expect_near(run(Softmax{.log = true}, {x}),
              {std::log(0.25f), std::log(0.75f), std::log(0.5f), std::log(0.5f)}, 1e-6f);
}

TEST(Softmax, OfNothingIsNothing) {
  EXPECT_EQ(run(Softmax{}, {Tensor(DataType::float32, {2, 0})}).dims(), (Dims{2, 0}));
}

TEST(Softmax, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Softmax{.axis = 2}, {f32({2, 3})}), "axis 2");
  EXPECT_REFUSED(infer_of(Softmax{}, {i64({2, 3})}), "floating");
}

TEST(BatchNorm, TakesAMatrixAndNoVarianceAtAll) {
  // Rank 2 has one element a channel; a variance of 0 leaves epsilon alone under the root.
  expect_near(run(BatchNorm{.epsilon = 0.25f},
                  {floats({2, 2}, {1, 2, 3, 4}), floats({2}, {1, 1}), floats({2}, {0, 10}),
                   floats({2}, {1, 2}), floats({2}, {0, 0})}),
              {0, 10, 4, 14});
}

TEST(Lrn, LooksAcrossChannelsAtOnePositionOnly) {
  // Two positions, two channels: the squares of 1 and 2, and of 10 and 20.
  expect_near(
      run(Lrn{.size = 3, .alpha = 3, .beta = 1, .bias = 0}, {floats({1, 2, 2}, {1, 10, 2, 20})}),
      {1.f / 5, 10.f / 500, 2.f / 5, 20.f / 500});
}

TEST(Lrn, AnEvenSizeReachesFurtherUp) {
  // Krizhevsky's window of 4: one channel below, two above.
  expect_near(
      run(Lrn{.size = 4, .alpha = 4, .beta = 1, .bias = 0}, {floats({1, 4, 1}, {1, 2, 3, 4})}),
      {1.f / 14, 2.f / 30, 3.f / 29, 4.f / 25});
}

TEST(InstanceNorm, AConstantPlaneIsItsBias) {
  EXPECT_EQ(values(run(InstanceNorm{},
                       {floats({1, 1, 3}, {7, 7, 7}), floats({1}, {100}), floats({1}, {-2})})),
            (Floats{-2, -2, -2}));
}

TEST(InstanceNorm, NeedsSpatialDimensionsAndAnEpsilonThatIsANumber) {
  EXPECT_REFUSED(infer_of(InstanceNorm{}, {f32({1, 2}), f32({2}), f32({2})}),
                 "3 or more dimensions");
  EXPECT_REFUSED(infer_of(InstanceNorm{.epsilon = NAN}, {f32({1, 2, 3}), f32({2}), f32({2})}),
                 "epsilon");
}

TEST(LayerNorm, NormalisesOverSeveralDimensionsAndBroadcastsItsScale) {
  const Tensor x = floats({1, 2, 2}, {-3, -1, 1, 3});  // mean 0, variance 5
  const float unit = 1 / std::sqrt(5.0f);
  expect_near(run(LayerNorm{.axis = 1, .epsilon = 0}, {x, floats({2, 1}, {1, 10})}),
              {-3 * unit, -1 * unit, 10 * unit, 30 * unit});
  expect_near(run(LayerNorm{.axis = -2, .epsilon = 0}, {x, floats({1}, {2}), floats({2}, {5, 6})}),
              {-6 * unit + 5, -2 * unit + 6, 2 * unit + 5, 6 * unit + 6});
}

TEST(Softmax, MinusInfinityTakesNoShare) {
  expect_near(run(Softmax{}, {floats({3}, {1, -kInfinity, 1})}), {0.5f, 0, 0.5f});
  const Tensor logs = run(Softmax{.log = true}, {floats({2}, {0, -kInfinity})});
  EXPECT_EQ(values(logs), (Floats{0, -kInfinity}));
}

TEST(Softmax, NormalisesAMiddleAxis) {
  const Tensor x = floats({1, 2, 2}, {0, 5, std::log(3.0f), 5});
  expect_near(run(Softmax{.axis = 1}, {x}), {0.25f, 0.5f, 0.75f, 0.5f});
}

TEST(Softmax, LogKeepsWhatTheQuotientWouldLose) {
  // exp(-200) is 0 in float; its logarithm is not.
  expect_near(run(Softmax{.log = true}, {floats({2}, {0, -200})}), {0, -200}, 1e-4f);
}

}  // namespace
}  // namespace enginery
