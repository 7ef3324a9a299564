#include "tuner/calibrate/calibrator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/calibrate/algorithms.h"

namespace enginery {
namespace {

constexpr size_t kMostNamed = 5;

}  // namespace

std::vector<std::unique_ptr<Calibrator>> make_calibrators() {
  std::vector<std::unique_ptr<Calibrator>> out;
  out.push_back(make_mse());
  out.push_back(make_entropy());
  out.push_back(make_entropy2());
  out.push_back(make_minmax());
  out.push_back(make_percentile());
  out.push_back(make_legacy());
  return out;
}

Result<std::unique_ptr<Calibrator>> find_calibrator(std::string_view name) {
  std::string known;
  for (std::unique_ptr<Calibrator>& one : make_calibrators()) {
    if (one->name() == name) return std::move(one);
    known += (known.empty() ? "" : ", ") + std::string(one->name());
  }
  return Error{ErrorCode::usage,
               "there is no calibrator '" + std::string(name) + "'; there are: " + known};
}

float scale_of(const Histogram& histogram, const Calibrator& calibrator) {
  const double largest = histogram.largest_magnitude();
  if (largest == 0) return 1;
  const double threshold = histogram.is_constant() ? largest : calibrator.threshold(histogram);
  // A smaller one would be a subnormal number, which some devices take for zero.
  return std::max(static_cast<float>(threshold / kInt8Levels), std::numeric_limits<float>::min());
}

std::string constant_tensors_note(const HistogramSet& set) {
  std::string names;
  size_t count = 0;
  for (const auto& [name, histogram] : set.tensors) {
    if (!histogram.is_constant()) continue;
    if (count++ < kMostNamed) names += (names.empty() ? "'" : ", '") + name + "'";
  }
  if (count == 0) return "";
  if (count > kMostNamed) names += " and " + std::to_string(count - kMostNamed) + " more";
  return "calibration: all elements are the same in " + names +
         ": the scale is their magnitude / 127, or 1 where they are 0";
}

double squared_error(const Histogram& histogram, double scale) {
  const double width = histogram.bin_width();
  double sum = 0, elements = static_cast<double>(histogram.zeros);
  for (size_t i = 0; i < histogram.bins.size(); ++i) {
    if (histogram.bins[i] == 0) continue;
    const double x = (static_cast<double>(i) + 0.5) * width;
    const double q = std::min(std::nearbyint(x / scale), double{kInt8Levels}) * scale;
    const auto n = static_cast<double>(histogram.bins[i]);
    sum += n * (x - q) * (x - q);
    elements += n;
  }
  return elements > 0 ? sum / elements : 0;
}

}  // namespace enginery
