#include <algorithm>

#include "tuner/calibrate/algorithms.h"

namespace enginery {
namespace {

constexpr double kPercentile = 0.9999;
constexpr double kQuantile = 0.99999;  // of the legacy calibrator
constexpr double kCutoff = 0.5;

// The upper end of the bin in which the share of the elements is reached.
double quantile(const Histogram& histogram, double share) {
  const double wanted = share * static_cast<double>(histogram.count());
  double seen = static_cast<double>(histogram.zeros);
  const double largest = histogram.largest_magnitude();
  for (size_t i = 0; i < histogram.bins.size(); ++i) {
    seen += static_cast<double>(histogram.bins[i]);
    // Zeros alone may be the whole share: then the first element beyond them counts.
    if (seen >= wanted && histogram.bins[i] > 0)
      return std::min(static_cast<double>(i + 1) * histogram.bin_width(), largest);
  }
  return largest;
}

class MinMax final : public Calibrator {
 public:
  std::string_view name() const override { return "minmax"; }
  std::string_view summary() const override { return "the largest magnitude; nothing is clipped"; }
  std::string_view table_name() const override { return "MinMaxCalibration"; }
  double threshold(const Histogram& histogram) const override {
    return histogram.largest_magnitude();
  }
};

class Percentile final : public Calibrator {
 public:
  std::string_view name() const override { return "percentile"; }
  std::string_view summary() const override { return "99.99 % of the elements are not clipped"; }
  std::string_view table_name() const override { return "PercentileCalibration"; }
  double threshold(const Histogram& histogram) const override {
    return quantile(histogram, kPercentile);
  }
};

class Legacy final : public Calibrator {
 public:
  std::string_view name() const override { return "legacy"; }
  std::string_view summary() const override {
    return "99.999 % are not clipped, and nothing below half the largest magnitude";
  }
  std::string_view table_name() const override { return "LegacyCalibration"; }
  double threshold(const Histogram& histogram) const override {
    return std::max(quantile(histogram, kQuantile), kCutoff * histogram.largest_magnitude());
  }
};

}  // namespace

std::unique_ptr<Calibrator> make_minmax() {
  return std::make_unique<MinMax>();
}

std::unique_ptr<Calibrator> make_percentile() {
  return std::make_unique<Percentile>();
}

std::unique_ptr<Calibrator> make_legacy() {
  return std::make_unique<Legacy>();
}

}  // namespace enginery
