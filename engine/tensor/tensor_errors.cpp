#include "engine/tensor/tensor_errors.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace enginery {
namespace {

using Doubles = std::span<const double>;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

double apart(double y, double r) {
  if (y == r || (std::isnan(y) && std::isnan(r))) return 0;
  const double d = std::abs(y - r);
  return std::isnan(d) ? kNoLimit : d;
}

double decibels(double signal, double noise) {
  return noise == 0 ? kNoLimit : 10 * std::log10(signal / noise);
}

double share_of_equal_tops(Doubles y, Doubles r, size_t columns) {
  const size_t rows = y.size() / columns;
  const auto top = [&](Doubles all, size_t row) {
    const Doubles one = all.subspan(row * columns, columns);
    return std::ranges::max_element(one) - one.begin();
  };
  size_t equal = 0;
  for (size_t row = 0; row < rows; ++row) equal += top(y, row) == top(r, row);
  return static_cast<double>(equal) / static_cast<double>(rows);
}

}  // namespace

TensorErrors errors_of(const Tensor& actual, const Tensor& reference) {
  ENSURE(actual.dims() == reference.dims(), "errors_of: tensors of other dims");
  const Tensor wide_y = convert(actual, DataType::float64);
  const Tensor wide_r = convert(reference, DataType::float64);
  const Doubles y = wide_y.data<double>(), r = wide_r.data<double>();
  TensorErrors out;
  out.elements = actual.size();
  double signal = 0, noise = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    const double d = apart(y[i], r[i]);
    if (std::isfinite(r[i])) signal += r[i] * r[i];
    noise += d * d;
    out.differing += d > 0;
    if (d <= out.max_abs) continue;
    out.max_abs = d;
    out.worst_element = static_cast<int64_t>(i);
  }
  out.relative = relative_error(wide_y, wide_r);
  out.sqnr_db = decibels(signal, noise);
  const Dims& dims = actual.dims();
  if (dims.size() == 2 && dims[0] > 0 && dims[1] > 1)
    out.top1_agree = share_of_equal_tops(y, r, static_cast<size_t>(dims[1]));
  return out;
}

}  // namespace enginery
