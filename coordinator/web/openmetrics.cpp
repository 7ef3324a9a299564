#include "coordinator/web/openmetrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace enginery {
namespace {

const char* type_name(OpenMetrics::Type type) {
  switch (type) {
    case OpenMetrics::Type::gauge:
      return "gauge";
    case OpenMetrics::Type::counter:
      return "counter";
    case OpenMetrics::Type::histogram:
      return "histogram";
    case OpenMetrics::Type::info:
      return "info";
  }
  return "unknown";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

std::string label_text(const MetricLabels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  return out.empty() ? "" : "{" + out + "}";
}

// Whole numbers without a point, others with all their digits.
std::string number_text(double value) {
  if (value == static_cast<double>(static_cast<int64_t>(value)))
    return fmt::format("{}", static_cast<int64_t>(value));
  return fmt::format("{}", value);
}

// A float always: 1 is "1.0", so that a bound has one text.
std::string bound_text(double bound) {
  const std::string text = fmt::format("{}", bound);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

void MetricHistogram::observe(double value) {
  const auto bound = std::lower_bound(bounds.begin(), bounds.end(), value);
  ++counts[static_cast<size_t>(bound - bounds.begin())];
  sum += value;
}

void OpenMetrics::family(std::string_view name, Type type, std::string_view unit,
                         std::string_view help) {
  name_ = name;
  type_ = type;
  text_ += fmt::format("# TYPE {} {}\n", name, type_name(type));
  if (!unit.empty()) text_ += fmt::format("# UNIT {} {}\n", name, unit);
  text_ += fmt::format("# HELP {} {}\n", name, escaped(help));
}

void OpenMetrics::line(std::string_view suffix, const MetricLabels& labels, double value) {
  text_ += fmt::format("{}{}{} {}\n", name_, suffix, label_text(labels), number_text(value));
}

void OpenMetrics::sample(const MetricLabels& labels, double value) {
  line(type_ == Type::counter ? "_total" : type_ == Type::info ? "_info" : "", labels, value);
}

void OpenMetrics::histogram(const MetricLabels& labels, const MetricHistogram& values) {
  uint64_t below = 0;
  for (size_t i = 0; i < values.counts.size(); ++i) {
    below += values.counts[i];
    MetricLabels bucket = labels;
    const bool is_last = i == values.bounds.size();
    bucket.emplace_back("le", is_last ? "+Inf" : bound_text(values.bounds[i]));
    line("_bucket", bucket, static_cast<double>(below));
  }
  line("_count", labels, static_cast<double>(below));
  line("_sum", labels, values.sum);
}

std::string OpenMetrics::finish() && {
  return std::move(text_) + "# EOF\n";
}

}  // namespace enginery
