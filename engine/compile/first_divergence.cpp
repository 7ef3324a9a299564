#include "engine/compile/first_divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace enginery {
namespace {

constexpr double kNothingAlike = std::numeric_limits<double>::infinity();

// max|a - b| / max|b| over the samples, infinite where it is more than `most` or the types differ.
double distance_of(const TracedValue& a, const TracedValue& b, double most) {
  if (a.type != b.type) return kNothingAlike;
  if (a.samples.empty() || b.samples.empty())
    return is_static(a.type.dims) && volume(a.type.dims) == 0 ? 0 : kNothingAlike;
  double largest = 0, difference = 0;
  for (const double v : b.samples) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double x = a.samples[i], y = b.samples[i];
    if (x == y || std::isnan(y)) continue;
    if (!(std::abs(x - y) <= most * largest)) return kNothingAlike;
    difference = std::max(difference, std::abs(x - y));
  }
  return difference == 0 ? 0 : difference / largest;
}

bool agree(const TracedValue& a, const TracedValue& b, double bar) {
  return distance_of(a, b, bar) <= bar;
}

// Among the values that somebody computed, and the outputs.
double distance_to_nearest(const TracedValue& value, const RunTrace& expected) {
  double least = kNothingAlike;
  for (const TracedValue& e : expected.values)
    least = std::min(least, distance_of(value, e, std::numeric_limits<double>::max()));
  return least;
}

}  // namespace

std::string to_string(const Divergence& divergence) {
  return "layer '" + divergence.layer + "' (" + divergence.op + ")";
}

std::optional<Divergence> first_divergence(const RunTrace& expected, const RunTrace& actual,
                                           double bar) {
  // Values from which a wrong output comes with nothing right in between.
  std::vector<bool> suspect(actual.values.size(), false);
  for (size_t i = 0; i < actual.outputs.size(); ++i) {
    const size_t v = actual.outputs[i];
    suspect[v] = suspect[v] || !agree(actual.values[v], expected.values[expected.outputs[i]], bar);
  }
  const auto is_right = [&](size_t v) {
    return std::ranges::any_of(
        expected.values, [&](const TracedValue& e) { return agree(actual.values[v], e, bar); });
  };
  const TracedValue* wrong = nullptr;
  const TracedLayer* first = nullptr;
  for (size_t i = actual.layers.size(); i-- > 0;) {
    const TracedLayer& layer = actual.layers[i];
    const auto found = std::ranges::find_if(layer.outputs, [&](size_t v) { return suspect[v]; });
    if (found == layer.outputs.end()) continue;
    // Nobody saw what a view gave that only views read.
    if (!actual.values[*found].samples.empty()) {
      first = &layer;
      wrong = &actual.values[*found];
    }
    for (const size_t v : layer.inputs) {
      if (actual.values[v].computed && !is_right(v)) suspect[v] = true;
    }
  }
  if (!first) return std::nullopt;
  return Divergence{first->name, first->op, distance_to_nearest(*wrong, expected)};
}

Result<std::optional<Divergence>> first_divergence(const Graph& imported, const Graph& optimised,
                                                   const std::vector<Tensor>& inputs, double bar) {
  TRY(const RunTrace expected, trace_graph(imported, inputs));
  TRY(const RunTrace actual, trace_graph(optimised, inputs));
  return first_divergence(expected, actual, bar);
}

}  // namespace enginery
