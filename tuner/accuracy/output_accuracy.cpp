#include "tuner/accuracy/output_accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace enginery {
namespace {

constexpr double kPercent = 100;

// Whether each row of the tensor says how likely each of several classes is: N x C, or N x C x 1.
bool holds_classes(const Tensor& tensor) {
  const Dims& dims = tensor.dims();
  return dims.size() >= 2 && dims[1] >= 2 &&
         std::all_of(dims.begin() + 2, dims.end(), [](int64_t size) { return size == 1; });
}

size_t first_class(std::span<const float> row) {
  return static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

void add_noise(OutputAccuracy& to, std::span<const float> x, std::span<const float> y) {
  for (size_t i = 0; i < x.size(); ++i) {
    to.signal += static_cast<double>(x[i]) * x[i];
    const double difference = static_cast<double>(x[i]) - y[i];
    // What is not a number is as far off as can be.
    to.noise += std::isfinite(difference) ? difference * difference : HUGE_VAL;
  }
}

}  // namespace

void OutputAccuracy::add(const Tensor& expected, const Tensor& given, int64_t batch_rows,
                         int64_t valid_rows, std::span<const int64_t> labels) {
  ENSURE(expected.dims() == given.dims(), "OutputAccuracy: outputs of different dims");
  const Tensor a = convert(expected, DataType::float32), b = convert(given, DataType::float32);
  const bool is_batch = a.rank() > 0 && a.dims()[0] == batch_rows;
  const int64_t tensor_rows = is_batch ? valid_rows : 1;
  const size_t slots = is_batch ? static_cast<size_t>(batch_rows) : 1;
  const size_t size = a.data<float>().size() / slots;
  const bool has_classes = is_batch && holds_classes(a);
  if (has_classes && !agreeing) agreeing = 0;
  if (has_classes && !labels.empty() && !right) right = right_in_float = 0;
  for (size_t row = 0; row < static_cast<size_t>(tensor_rows); ++row) {
    const auto x = a.data<float>().subspan(row * size, size);
    const auto y = b.data<float>().subspan(row * size, size);
    add_noise(*this, x, y);
    if (!has_classes) continue;
    *agreeing += first_class(x) == first_class(y);
    if (labels.empty()) continue;
    *right_in_float += first_class(x) == static_cast<size_t>(labels[row]);
    *right += first_class(y) == static_cast<size_t>(labels[row]);
  }
  rows += valid_rows;
}

double OutputAccuracy::sqnr_db() const {
  if (noise == 0) return kMostDecibels;
  if (signal == 0 || !std::isfinite(noise)) return -kMostDecibels;
  return std::clamp(10 * std::log10(signal / noise), -kMostDecibels, kMostDecibels);
}

double OutputAccuracy::drop_percent() const {
  if (rows == 0) return 0;
  if (right) return std::max(0.0, percent(*right_in_float - *right));
  if (agreeing) return percent(rows - *agreeing);
  return std::min(kPercent, kPercent * std::pow(10.0, -sqnr_db() / 20));
}

double OutputAccuracy::percent(int64_t count) const {
  return rows == 0 ? 0 : kPercent * static_cast<double>(count) / static_cast<double>(rows);
}

int64_t AccuracyFigures::rows() const {
  return outputs.empty() ? 0 : outputs.front().rows;
}

double AccuracyFigures::sqnr_db() const {
  double worst = kMostDecibels;
  for (const OutputAccuracy& output : outputs) worst = std::min(worst, output.sqnr_db());
  return worst;
}

double AccuracyFigures::drop_percent() const {
  const bool has_classes = agreement_percent().has_value();
  double worst = 0;
  for (const OutputAccuracy& output : outputs) {
    if (output.agreeing || !has_classes) worst = std::max(worst, output.drop_percent());
  }
  return worst;
}

std::optional<double> AccuracyFigures::agreement_percent() const {
  std::optional<double> worst;
  for (const OutputAccuracy& output : outputs) {
    if (output.agreeing)
      worst = std::min(worst.value_or(kPercent), output.percent(*output.agreeing));
  }
  return worst;
}

const OutputAccuracy* AccuracyFigures::labelled() const {
  const OutputAccuracy* out = nullptr;
  for (const OutputAccuracy& output : outputs) {
    if (output.right && (out == nullptr || output.drop_percent() > out->drop_percent()))
      out = &output;
  }
  return out;
}

std::string to_text(const OutputAccuracy& output) {
  char decibels[32];
  std::snprintf(decibels, sizeof decibels, "%.1f dB", output.sqnr_db());
  const std::string name = "output '" + output.name + "': ";
  if (!output.agreeing) return name + decibels;
  const std::string text = name + std::to_string(*output.agreeing) + " of " +
                           std::to_string(output.rows) +
                           " rows have the first class of the float model, " + decibels;
  if (!output.right) return text;
  char top1[64];
  std::snprintf(top1, sizeof top1, "; top-1 %.2f %%, in float %.2f %%",
                output.percent(*output.right), output.percent(*output.right_in_float));
  return text + top1;
}

}  // namespace enginery
