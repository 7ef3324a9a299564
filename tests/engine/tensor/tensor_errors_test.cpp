#include "engine/tensor/tensor_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace enginery {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(TensorErrors, AreTheLargestDifferenceItsShareAndItsPlace) {
  const auto e = errors_of(Tensor::of<float>({2, 2}, {1, -4, 2, 8}),
                           Tensor::of<float>({2, 2}, {1, -3, 2, 8.5}));
  EXPECT_DOUBLE_EQ(e.max_abs, 1);
  EXPECT_DOUBLE_EQ(e.relative, 1 / 8.5);
  EXPECT_EQ(e.worst_element, 1);
  EXPECT_EQ(e.differing, 2);
  EXPECT_EQ(e.elements, 4);
}

// 10 log10((9 + 16) / (0.01 + 0.04)) = 10 log10(500)
TEST(TensorErrors, SqnrIsTheSignalsPowerOverTheDifferences) {
  const auto e =
      errors_of(Tensor::of<double>({2}, {3.1, 4.2}), Tensor::of<double>({2}, {3.0, 4.0}));
  EXPECT_NEAR(e.sqnr_db, 10 * std::log10(500.0), 1e-9);
}

TEST(TensorErrors, OfEqualTensorsIsZeroAndSqnrInfinite) {
  const Tensor t = Tensor::of<float>({3}, {1, kNan, -2});
  const auto e = errors_of(t, t);
  EXPECT_EQ(e.max_abs, 0);
  EXPECT_EQ(e.relative, 0);
  EXPECT_EQ(e.differing, 0);
  EXPECT_EQ(e.sqnr_db, std::numeric_limits<double>::infinity());
}

TEST(TensorErrors, ANanThatTheOtherDoesNotHaveIsInfinitelyFarAway) {
  const Tensor numbers = Tensor::of<float>({3}, {1, 2, 3}),
               nan = Tensor::of<float>({3}, {1, kNan, 3});
  for (const auto& e : {errors_of(nan, numbers), errors_of(numbers, nan)}) {
    EXPECT_EQ(e.max_abs, std::numeric_limits<double>::infinity());
    EXPECT_EQ(e.relative, std::numeric_limits<double>::infinity());
    EXPECT_EQ(e.worst_element, 1);
  }
}

TEST(TensorErrors, Top1CountsRowsOfTwoDimensionsAlone) {
  const Tensor r = Tensor::of<float>({4, 3}, {1, 5, 2, 7, 7, 0, 0, 1, 2, 3, 2, 1});
  const Tensor y = Tensor::of<float>({4, 3}, {0, 9, 2, 6, 7, 0, 0, 1, 2, 3, 2, 1});
  EXPECT_EQ(errors_of(y, r).top1_agree, 0.75) << "of two equal ones the first is the top";
  EXPECT_FALSE(errors_of(y.reshaped({12}), r.reshaped({12})).top1_agree);
  EXPECT_FALSE(errors_of(y.reshaped({12, 1}), r.reshaped({12, 1})).top1_agree);
}

TEST(TensorErrors, CompareElementsOfOtherTypes) {
  const auto e = errors_of(convert(Tensor::of<float>({2}, {1, 2.5}), DataType::float16),
                           Tensor::of<int64_t>({2}, {1, 2}));
  EXPECT_DOUBLE_EQ(e.max_abs, 0.5);
  EXPECT_DOUBLE_EQ(e.relative, 0.25);
}

TEST(TensorErrorsDeathTest, RefuseOtherDims) {
  EXPECT_DEATH((void)errors_of(Tensor::of<float>({2}, {1, 2}), Tensor::of<float>({1, 2}, {1, 2})),
               "other dims");
}

}  // namespace
}  // namespace enginery
