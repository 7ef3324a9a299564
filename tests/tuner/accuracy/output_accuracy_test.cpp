// What counts as the same answer, and how far off another one is.
#include "tuner/accuracy/output_accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace enginery {
namespace {

AccuracyFigures figures_of(const Tensor& expected, const Tensor& given, int64_t rows,
                           int64_t valid) {
  AccuracyFigures out{{{"y", 0, {}, 0, 0}}};
  out.outputs[0].add(expected, given, rows, valid);
  return out;
}

const Tensor kClasses = Tensor::of<float>({3, 2}, {0.9f, 0.1f, 0.2f, 0.8f, 0.6f, 0.4f});

TEST(OutputAccuracy, NothingDiffersFromItself) {
  const AccuracyFigures same = figures_of(kClasses, kClasses, 3, 3);
  EXPECT_EQ(same.agreement_percent(), 100);
  EXPECT_EQ(same.drop_percent(), 0);
  EXPECT_EQ(same.sqnr_db(), kMostDecibels);
  EXPECT_EQ(same.rows(), 3);
}

TEST(OutputAccuracy, CountsRowsOfAnotherFirstClassAndNoPadding) {
  const Tensor given = Tensor::of<float>({3, 2}, {0.4f, 0.6f, 0.1f, 0.9f, 0.0f, 1.0f});
  EXPECT_NEAR(*figures_of(kClasses, given, 3, 3).agreement_percent(), 100.0 / 3, 1e-9);
  const AccuracyFigures two = figures_of(kClasses, given, 3, 2);
  EXPECT_EQ(two.agreement_percent(), 50);
  EXPECT_EQ(two.drop_percent(), 50);
  EXPECT_NEAR(two.outputs[0].noise, 0.25 + 0.25 + 0.01 + 0.01, 1e-6);
}

TEST(OutputAccuracy, WithLabelsItDropsByWhatTop1Loses) {
  const Tensor given = Tensor::of<float>({3, 2}, {0.4f, 0.6f, 0.1f, 0.9f, 0.0f, 1.0f});
  // In float 0 1 0, here 1 1 1.
  const auto drop = [&](std::vector<int64_t> labels, int64_t valid) {
    AccuracyFigures out{{{"y", 0, {}, 0, 0}}};
    out.outputs[0].add(kClasses, given, 3, valid, labels);
    EXPECT_EQ(out.labelled(), &out.outputs[0]);
    return out.drop_percent();
  };
  EXPECT_NEAR(drop({0, 1, 1}, 3), 0, 1e-9) << "one lost, one won";
  EXPECT_NEAR(drop({0, 1, 0}, 3), 200.0 / 3, 1e-9);
  EXPECT_EQ(drop({1, 1}, 2), 0) << "a gain is no drop";
  AccuracyFigures out{{{"y", 0, {}, 0, 0}}};
  out.outputs[0].add(kClasses, given, 3, 3, std::vector<int64_t>{0, 1, 1});
  EXPECT_NE(to_text(out.outputs[0]).find("; top-1 66.67 %, in float 66.67 %"), std::string::npos)
      << to_text(out.outputs[0]);
  EXPECT_EQ(figures_of(kClasses, given, 3, 3).labelled(), nullptr);
}

TEST(OutputAccuracy, AnOutputWithoutClassesDropsByTheNoisesShare) {
  const Tensor map = Tensor::of<float>({1, 2, 2, 1}, {3, 4, 0, 0}),
               off = Tensor::of<float>({1, 2, 2, 1}, {3, 4, 0.05f, 0});
  const AccuracyFigures figures = figures_of(map, off, 1, 1);
  EXPECT_FALSE(figures.agreement_percent().has_value());
  EXPECT_NEAR(figures.sqnr_db(), 40, 1e-4);
  EXPECT_NEAR(figures.drop_percent(), 1, 1e-4);
}

TEST(OutputAccuracy, WhatIsNoNumberIsAsFarOffAsCanBe) {
  Tensor given = kClasses;
  given.mutable_data<float>()[3] = NAN;
  const AccuracyFigures figures = figures_of(kClasses, given, 3, 3);
  EXPECT_EQ(figures.sqnr_db(), -kMostDecibels);
}

TEST(AccuracyFigures, AreThoseOfTheWorstOutput) {
  AccuracyFigures both{{{"map", 4, {}, 1, 10}, {"a", 4, 4, 100, 1}, {"b", 4, 3, 100, 0.01}}};
  EXPECT_EQ(both.agreement_percent(), 75);
  EXPECT_EQ(both.drop_percent(), 25) << "a map has no classes";
  EXPECT_NEAR(both.sqnr_db(), -10, 1e-9);
  EXPECT_EQ(to_text(both.outputs[2]),
            "output 'b': 3 of 4 rows have the first class of the float model, 40.0 dB");
  EXPECT_EQ(to_text(both.outputs[0]), "output 'map': -10.0 dB");
}

}  // namespace
}  // namespace enginery
