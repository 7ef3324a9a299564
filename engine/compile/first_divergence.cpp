#include "engine/compile/first_divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace enginery {
namespace {

constexpr double kNothingAlike = std::numeric_limits<double>::infinity();

// max|a - b| / max|b| over the samples, infinite where it is more than `most` or the dims differ.
double distance_of(const TracedValue& a, const TracedValue& b, double most) {
  if (a.type.dims != b.type.dims || !a.is_seen() || !b.is_seen()) return kNothingAlike;
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

// An output may be like nothing: then any type will do.
double distance_to_nearest(const TracedValue& value, const RunTrace& expected) {
  double of_alike = kNothingAlike, of_others = kNothingAlike;
  for (const TracedValue& e : expected.values) {
    double& least = are_alike(value, e) ? of_alike : of_others;
    least = std::min(least, distance_of(value, e, std::numeric_limits<double>::max()));
  }
  return std::isfinite(of_alike) ? of_alike : of_others;
}

// Which values of `actual` something in `expected` can be held against.
std::vector<bool> judged_values(const RunTrace& expected, const RunTrace& actual) {
  std::vector<bool> out;
  for (const TracedValue& value : actual.values)
    out.push_back(value.is_seen() && std::ranges::any_of(expected.values, [&](const auto& e) {
                    return e.is_seen() && are_alike(value, e);
                  }));
  // Nobody saw what a view gave that only views read.
  for (const size_t v : actual.outputs) out[v] = actual.values[v].is_seen();
  return out;
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
    return std::ranges::any_of(expected.values, [&](const TracedValue& e) {
      return are_alike(actual.values[v], e) && agree(actual.values[v], e, bar);
    });
  };
  const std::vector<bool> judged = judged_values(expected, actual);
  const TracedValue* wrong = nullptr;
  const TracedLayer* first = nullptr;
  for (size_t i = actual.layers.size(); i-- > 0;) {
    const TracedLayer& layer = actual.layers[i];
    bool is_suspect = false;
    for (const size_t v : layer.outputs) is_suspect = is_suspect || suspect[v];
    if (!is_suspect) continue;
    const auto found =
        std::ranges::find_if(layer.outputs, [&](size_t v) { return suspect[v] && judged[v]; });
    if (found != layer.outputs.end()) {
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
