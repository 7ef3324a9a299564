// Metrics as OpenMetrics text, version 1.0.0.
//
// Where: coordinator/server/farm_metrics.h says which there are; this knows the format alone: one
// block a family, its type, unit and help before its samples, counters with _total, histograms with
// cumulative buckets,
// "# EOF" at the end. Threads: one writer, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace enginery {

inline constexpr char kOpenMetricsType[] =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

// Observations in buckets: counts[i] are those of at most bounds[i] and more than bounds[i - 1],
// the last one those beyond.
struct MetricHistogram {
  std::vector<double> bounds;
  std::vector<uint64_t> counts;
  double sum = 0;

  explicit MetricHistogram(std::vector<double> upper = {})
      : bounds(std::move(upper)), counts(bounds.size() + 1) {}
  void observe(double value);
};

class OpenMetrics {
 public:
  enum class Type { gauge, counter, histogram, info };
  // Begins a family; its name is not yet used. A unit is the end of the name ("seconds"), or "".
  void family(std::string_view name, Type type, std::string_view unit, std::string_view help);
  // A sample of the family that was begun last: gauge or counter, or info with value 1.
  void sample(const MetricLabels& labels, double value);
  void histogram(const MetricLabels& labels, const MetricHistogram& values);

  // The whole text.
  std::string finish() &&;

 private:
  void line(std::string_view suffix, const MetricLabels& labels, double value);

  std::string text_, name_;
  Type type_ = Type::gauge;
};

}  // namespace enginery
