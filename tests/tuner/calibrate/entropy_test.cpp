// The divergence of entropy calibration, by the example of its source and by the definition.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/tuner/calibrate/samples.h"
#include "tuner/calibrate/algorithms.h"

namespace enginery {
namespace {

using test::histogram_of;
using test::normal_sample;

double divergence_of(std::vector<double> p, std::vector<double> q) {
  double sum_p = 0, sum_q = 0, out = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    sum_p += p[i];
    sum_q += q[i];
  }
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) out += p[i] / sum_p * std::log(p[i] / sum_p / (q[i] / sum_q));
  }
  return out;
}

// S. Migacz, GTC 2017, "Candidate distribution Q": eight bins to two levels; the merged bins
// [6, 16] expand to [2, 0, 2, 2, 4, 4, 4, 4].
TEST(KlDivergence, AgreesWithThePublishedExample) {
  const std::vector<double> p{1, 0, 2, 3, 5, 3, 1, 7};
  EXPECT_NEAR(kl_divergence(p, 8, 2), divergence_of(p, {2, 0, 2, 2, 4, 4, 4, 4}), 1e-12);
}

// The outliers are added to the last bin of P, and to nothing of Q.
TEST(KlDivergence, CountsOutliersInTheReferenceAlone) {
  const std::vector<double> bins{1, 0, 2, 3, 5, 3, 1, 7, 2, 0, 9};
  EXPECT_NEAR(kl_divergence(bins, 8, 2),
              divergence_of({1, 0, 2, 3, 5, 3, 1, 18}, {2, 0, 2, 2, 4, 4, 4, 4}), 1e-12);
}

TEST(KlDivergence, DividesBinsThatAreNoMultipleOfTheLevels) {
  const std::vector<double> p{4, 2, 6, 1, 1};  // levels of 2, 2 and 1 bins
  EXPECT_NEAR(kl_divergence(p, 5, 3), divergence_of(p, {3, 3, 3.5, 3.5, 1}), 1e-12);
}

TEST(KlDivergence, TakesAnEmptyLastBinForANearlyEmptyOne) {
  EXPECT_NEAR(kl_divergence(std::vector<double>{3, 2, 0, 5}, 3, 2),
              divergence_of({3, 2, 5}, {2.5, 2.5, 1e-4}), 1e-4);
  EXPECT_EQ(kl_divergence(std::vector<double>{0, 0, 0, 5}, 3, 2), INFINITY);
}

TEST(KlDivergence, IsZeroWithoutLoss) {
  EXPECT_NEAR(kl_divergence(std::vector<double>{3, 3, 0, 8}, 4, 2), 0, 1e-12);
}

// What calibration by entropy is for: a few outliers do not decide the scale.
TEST(Entropy, ClipsFarOutliers) {
  std::vector<float> elements = normal_sample(200'000, 1, 4);
  elements.insert(elements.end(), {60.0f, -70.0f, 80.0f});
  for (const auto& make : {make_entropy, make_entropy2}) {
    const double threshold = make()->threshold(histogram_of(elements));
    EXPECT_GT(threshold, 2.5);
    EXPECT_LT(threshold, 40);
  }
}

TEST(Entropy, DoesNotCountZeros) {
  const std::vector<float> elements = normal_sample(200'000, 1, 4);
  std::vector<float> with_zeros = elements;
  with_zeros.insert(with_zeros.end(), 1'000'000, 0.0f);
  for (const auto& make : {make_entropy, make_entropy2})
    EXPECT_EQ(make()->threshold(histogram_of(with_zeros)),
              make()->threshold(histogram_of(elements)));
}

}  // namespace
}  // namespace enginery
