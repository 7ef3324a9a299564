#include "tuner/gate/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/attributes.h"

namespace enginery {
namespace {

constexpr double kHalfStep = 0.5;       // what rounding to a whole number may add
constexpr double kLessThanHalf = 0.45;  // a whole number that is off by one shows

std::string number(double v) {
  return float_text(static_cast<float>(v));
}

std::string wrong_element(const ExpectedOutput& expected, size_t i, const std::string& found,
                          const std::string& wanted, const std::string& within) {
  return "element " + std::to_string(expected.elements[i]) + " is " + found + ", expected " +
         wanted + within;
}

// Integers and booleans: every byte, so that a boolean of another value than 0 and 1 is wrong.
ComparedOutput compare_bytes(const Tensor& stored, const ExpectedOutput& expected) {
  const Tensor wanted = convert(expected.values, stored.type());
  const auto size = static_cast<size_t>(element_bytes(stored.type()));
  const auto *y = static_cast<const uint8_t*>(stored.raw()),
             *r = static_cast<const uint8_t*>(wanted.raw());
  for (size_t i = 0; i < expected.elements.size(); ++i) {
    if (std::memcmp(y + i * size, r + i * size, size) == 0) continue;
    return {0, wrong_element(expected, i, std::to_string(to_int64s(stored)[i]),
                             std::to_string(to_int64s(wanted)[i]), "")};
  }
  return {};
}

// The largest whole number up to which what the tactic multiplies in holds all.
double largest_whole(Precision compute) {
  switch (compute) {
    case Precision::fp32:
      return 1 << 24;
    case Precision::tf32:
    case Precision::fp16:
      return 1 << 11;
    case Precision::bf16:
    case Precision::int8:
      return 1 << 8;
  }
  return 0;
}

// By how much each element may differ.
class Allowance {
 public:
  Allowance(const ExpectedOutput& expected, const Arithmetic& arithmetic, const Tactic& tactic,
            DataType stored)
      : expected_(expected),
        bound_(error_bound(arithmetic, tactic, stored)),
        closeness_(closeness_for(expected, tactic.compute)) {
    for (const double m : expected.magnitudes) {
      if (std::isfinite(m)) largest_ = std::max(largest_, m);
    }
  }
  double at(size_t i, double value) const {
    if (closeness_ == Closeness::equal) return 0;
    if (closeness_ == Closeness::whole && !bound_.of_largest) return 0;
    const double own = expected_.magnitudes[i];
    const double magnitude = bound_.of_largest && std::isfinite(own) ? largest_ : own;
    const double allowed = bound_.at(value, magnitude) + (expected_.rounds ? kHalfStep : 0);
    return closeness_ == Closeness::whole ? std::min(allowed, kLessThanHalf) : allowed;
  }

 private:
  // Whole numbers inside of a region stay whole where the tactic can hold them.
  static Closeness closeness_for(const ExpectedOutput& expected, Precision compute) {
    const bool rounds = expected.largest_inner > largest_whole(compute);
    return rounds && expected.closeness == Closeness::whole ? Closeness::bounded
                                                            : expected.closeness;
  }

  const ExpectedOutput& expected_;
  const ErrorBound bound_;
  const Closeness closeness_;
  double largest_ = 0;
};

// Whether the type in which the result is stored rounds `value` to infinity, or an error within
// the bound would.
bool overflows(double y, double value, double allowed, DataType stored) {
  const double most = stored == DataType::float16 ? 65504 : 3.3e38;
  return std::isinf(y) && (y > 0) == (value > 0) && std::abs(value) + allowed >= most;
}

}  // namespace

ComparedOutput compare(const Tensor& stored, const ExpectedOutput& expected,
                       const Arithmetic& arithmetic, const Tactic& tactic) {
  if (expected.values.type() != DataType::float64) return compare_bytes(stored, expected);
  const Allowance allowance(expected, arithmetic, tactic, stored.type());
  const Tensor wide = convert(stored, DataType::float64);
  const auto y = wide.data<double>(), r = expected.values.data<double>();
  // What does not round is stored as the nearest value of its type.
  const Tensor nearest = convert(convert(expected.values, stored.type()), DataType::float64);
  const auto n = nearest.data<double>();
  double difference = 0, largest = 0;
  for (size_t i = 0; i < r.size(); ++i) {
    if (std::isfinite(r[i])) largest = std::max(largest, std::abs(r[i]));
    if ((y[i] == n[i] && !expected.rounds) || (std::isnan(y[i]) && std::isnan(r[i]))) continue;
    const double allowed = allowance.at(i, r[i]), d = std::abs(y[i] - r[i]);
    if (std::isinf(allowed) || overflows(y[i], r[i], allowed, stored.type())) continue;
    if (!(d <= allowed))
      return {0,
              wrong_element(expected, i, number(y[i]), number(r[i]), " within " + number(allowed))};
    difference = std::max(difference, d);
  }
  return {largest > 0 ? difference / largest : difference, ""};
}

}  // namespace enginery
