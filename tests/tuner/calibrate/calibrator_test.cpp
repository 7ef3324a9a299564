// What every calibrator promises, over all of them; and what each promises alone.
#include "tuner/calibrate/calibrator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/tuner/calibrate/samples.h"
#include "tuner/calibrate/table.h"

namespace enginery {
namespace {

using test::histogram_of;
using test::normal_sample;

const Calibrator& at(size_t index) {
  static const auto all = make_calibrators();
  return *all[index];
}

class EveryCalibrator : public testing::TestWithParam<size_t> {
 protected:
  const Calibrator& calibrator() const { return at(GetParam()); }
  float scale(std::span<const float> elements) const {
    return scale_of(histogram_of(elements), calibrator());
  }
};

INSTANTIATE_TEST_SUITE_P(Conformance, EveryCalibrator,
                         testing::Range<size_t>(0, make_calibrators().size()),
                         [](const auto& row) { return std::string(at(row.param).name()); });

std::vector<float> scaled(std::vector<float> elements, float factor) {
  for (float& one : elements) one *= factor;
  return elements;
}

// A ReLU's output: half of it zeros, with a few far outliers.
std::vector<float> rectified_sample() {
  std::vector<float> out = normal_sample(20'000, 1, 5);
  for (float& one : out) one = std::max(one, 0.0f);
  out.push_back(40);
  return out;
}

TEST_P(EveryCalibrator, GivesAScaleAboveZeroAndAtMostTheLargestMagnitude) {
  for (const auto& elements :
       {normal_sample(10'000, 1, 1), rectified_sample(), std::vector<float>{-1, 1},
        std::vector<float>{0, 0, 0, 7}, std::vector<float>{1e-38f, 2e-38f},
        std::vector<float>{1e-45f, 0}, std::vector<float>{3e38f, -1}}) {
    const Histogram h = histogram_of(elements);
    const float s = scale_of(h, calibrator());
    EXPECT_GT(s, 0);
    const double most =
        std::max(h.largest_magnitude() / kInt8Levels, double{std::numeric_limits<float>::min()});
    EXPECT_LE(s, most * (1 + 1e-6));
  }
}

TEST_P(EveryCalibrator, GrowsWithTheRangeOfTheData) {
  const std::vector<float> base = rectified_sample();
  float before = 0;
  for (const float factor : {1e-6f, 0.5f, 1.0f, 1.3f, 1.9f, 2.0f, 5.0f, 1e6f}) {
    const float now = scale(scaled(base, factor));
    EXPECT_GT(now, before) << factor;
    before = now;
  }
}

TEST_P(EveryCalibrator, FollowsAPowerOfTwoExactly) {
  const std::vector<float> base = rectified_sample();
  EXPECT_EQ(scale(scaled(base, 1024)), 1024 * scale(base));
}

TEST_P(EveryCalibrator, DoesNotSeeTheSign) {
  const std::vector<float> base = normal_sample(10'000, 3, 2);
  EXPECT_EQ(scale(scaled(base, -1)), scale(base));
}

TEST_P(EveryCalibrator, GivesShardsTheScaleOfOnePass) {
  const std::vector<float> all = rectified_sample();
  Histogram merged = histogram_of(std::span(all).subspan(7000));
  merged.merge(histogram_of(std::span(all).first(7000)));
  EXPECT_EQ(scale_of(merged, calibrator()), scale(all));
}

TEST_P(EveryCalibrator, GivesAConstantItsMagnitudeAndZerosOne) {
  EXPECT_EQ(scale(std::vector<float>(9, 12.7f)), 12.7f / 127);
  EXPECT_EQ(scale(std::vector<float>(9, -12.7f)), 12.7f / 127);
  EXPECT_EQ(scale(std::vector<float>(9, 0.0f)), 1);
  EXPECT_EQ(scale_of(Histogram(), calibrator()), 1);
}

TEST_P(EveryCalibrator, RoundTripsThroughATable) {
  HistogramSet set;
  set.samples = 1;
  ASSERT_TRUE(set.observe("data", normal_sample(5000, 50, 3)).ok());
  ASSERT_TRUE(set.observe("model/conv:0", rectified_sample()).ok());
  const CalibrationTable table = make_table(set, calibrator());
  EXPECT_EQ(table.scales.at("data"), scale_of(set.tensors.at("data"), calibrator()));
  const auto back = parse_calibration_table(to_text(table));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, table);
}

TEST_P(EveryCalibrator, IsFoundByItsName) {
  const auto found = find_calibrator(calibrator().name());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->table_name(), calibrator().table_name());
}

TEST(Calibrators, HaveDifferentNamesWithMseFirst) {
  std::set<std::string_view> names, table_names;
  for (const auto& one : make_calibrators()) {
    names.insert(one->name());
    table_names.insert(one->table_name());
  }
  EXPECT_EQ(names.size(), make_calibrators().size());
  EXPECT_EQ(table_names.size(), make_calibrators().size());
  EXPECT_EQ(at(0).name(), "mse");
  const auto none = find_calibrator("max");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::usage);
  EXPECT_NE(none.error().message.find("mse, entropy, entropy2, minmax"), std::string::npos);
}

float scale_by(std::string_view name, std::span<const float> elements) {
  return scale_of(histogram_of(elements), **find_calibrator(name));
}

TEST(ConstantTensors, AreNamedWithTheRuleOfTheirScales) {
  HistogramSet set;
  const std::vector<float> zeros(3, 0.0f), halves(2, -0.5f), mixed{1, 2};
  ASSERT_TRUE(set.observe("varies", mixed).ok());
  EXPECT_EQ(constant_tensors_note(set), "");
  ASSERT_TRUE(set.observe("half", halves).ok());
  ASSERT_TRUE(set.observe("zero", zeros).ok());
  EXPECT_EQ(constant_tensors_note(set),
            "calibration: all elements are the same in 'half', 'zero': the scale is their "
            "magnitude / 127, or 1 where they are 0");
  for (const char* more : {"a", "b", "c", "d"}) ASSERT_TRUE(set.observe(more, zeros).ok());
  EXPECT_NE(constant_tensors_note(set).find("'half' and 1 more"), std::string::npos);
}

TEST(MinMax, ClipsNothing) {
  EXPECT_EQ(scale_by("minmax", rectified_sample()), 40.0f / 127);
}

// Elements 1, 2, ... 100000: 99.99 % of them are at most 99990, and bins are 16 wide.
TEST(Percentile, LeavesOneInTenThousandOut) {
  std::vector<float> elements;
  for (int i = 1; i <= 100'000; ++i) elements.push_back(static_cast<float>(i));
  EXPECT_NEAR(scale_by("percentile", elements) * 127, 99'990, 16);
  // 99.999 %, and the cutoff where an outlier lies far beyond them.
  EXPECT_NEAR(scale_by("legacy", elements) * 127, 99'999, 16);
  elements.push_back(1e6f);
  EXPECT_NEAR(scale_by("legacy", elements) * 127, 5e5, 1);
}

// The published optimum for a Gaussian at 8 bits: clipping at 3.93 standard deviations with the
// error of 4-sigma noise (Banner et al. 2019, "Post-training 4-bit quantization", table of alpha).
TEST(Mse, ClipsAGaussianWhereItsOptimumIs) {
  const float threshold = 127 * scale_by("mse", normal_sample(2'000'000, 1, 11));
  EXPECT_NEAR(threshold, 3.93, 0.12);
}

TEST(Mse, HasTheLeastErrorOfAll) {
  for (const auto& elements : {rectified_sample(), normal_sample(20'000, 3, 8)}) {
    const Histogram h = histogram_of(elements);
    const double least = squared_error(h, scale_of(h, at(0)));
    for (const auto& other : make_calibrators())
      EXPECT_LE(least, squared_error(h, scale_of(h, *other)) * (1 + 1e-9)) << other->name();
  }
}

TEST(Mse, MeasuresTheErrorOfRoundingAndSaturation) {
  // With scale 1: 0.5 of a bin above 0.25 rounds to 0; 200 saturates at 127.
  const Histogram h = histogram_of(std::vector<float>{0.25f, 200, 0, 3});
  const double half = h.bin_width() / 2;
  const double expected = (std::pow(0.25 - std::fmod(0.25, 2 * half) + half, 2) +
                           std::pow(200 + half - 127, 2) + half * half) /
                          4;
  EXPECT_NEAR(squared_error(h, 1), expected, 1e-9);
}

}  // namespace
}  // namespace enginery
