#include "tuner/calibrate/histogram.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace enginery {
namespace {

constexpr int kBinBits = 13;
static_assert(1 << kBinBits == Histogram::kBins);

// The least e with magnitude < 2^e.
int exponent_of(double magnitude) {
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);
  return exponent;
}

// Bins of twice the width.
void halve(std::vector<uint64_t>& bins) {
  const size_t half = bins.size() / 2;
  for (size_t i = 0; i < half; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
  std::fill(bins.begin() + static_cast<std::ptrdiff_t>(half), bins.end(), 0);
}

Status check_finite(std::span<const float> elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    if (std::isfinite(elements[i])) continue;
    return Error{ErrorCode::invalid_argument,
                 std::string(std::isnan(elements[i]) ? "NaN" : "an infinity") + " at element " +
                     std::to_string(i)};
  }
  return {};
}

}  // namespace

uint64_t Histogram::count() const {
  return std::accumulate(bins.begin(), bins.end(), zeros);
}

double Histogram::largest_magnitude() const {
  return std::max(std::abs(double{least}), std::abs(double{largest}));
}

double Histogram::bin_width() const {
  return std::ldexp(1.0, exponent_of(largest_magnitude()) - kBinBits);
}

bool Histogram::is_constant() const {
  return least == largest && count() > 0;
}

void Histogram::widen_to(double magnitude) {
  if (magnitude == 0) return;
  if (bins.empty()) {
    bins.assign(kBins, 0);
    return;
  }
  const int steps = exponent_of(magnitude) - exponent_of(largest_magnitude());
  for (int i = 0; i < std::min(steps, kBinBits + 1); ++i) halve(bins);
  // So far below the new range that all of it is in the first bin, wherever the halving ended.
}

Status Histogram::observe(std::span<const float> elements) {
  if (elements.empty()) return {};
  CHECK_OK(check_finite(elements));
  const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
  const float first = *low + 0.0f, last = *high + 0.0f;  // a zero without a sign
  const bool fresh = bins.empty() && zeros == 0;
  const double magnitude = std::max(std::abs(double{first}), std::abs(double{last}));
  widen_to(magnitude);
  least = fresh ? first : std::min(least, first);
  largest = fresh ? last : std::max(largest, last);
  if (bins.empty()) {
    zeros += elements.size();
    return {};
  }
  const double per_width = 1 / bin_width();  // a power of two: the product below is exact
  for (const float element : elements) {
    if (element == 0) {
      ++zeros;
    } else {
      ++bins[static_cast<size_t>(std::abs(double{element}) * per_width)];
    }
  }
  return {};
}

void Histogram::merge(const Histogram& other) {
  if (other.bins.empty() && other.zeros == 0) return;
  const bool fresh = bins.empty() && zeros == 0;
  Histogram added = other;
  const double magnitude = std::max(largest_magnitude(), other.largest_magnitude());
  widen_to(magnitude);
  added.widen_to(magnitude);
  for (size_t i = 0; i < bins.size(); ++i) bins[i] += added.bins[i];
  zeros += other.zeros;
  least = fresh ? other.least : std::min(least, other.least);
  largest = fresh ? other.largest : std::max(largest, other.largest);
}

}  // namespace enginery
