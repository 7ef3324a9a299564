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

}  // namespace
}  // namespace enginery
