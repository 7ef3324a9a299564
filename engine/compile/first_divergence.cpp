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

// Which values of one run can be held against those of another one.
class Likeness {
 public:
  Likeness(const RunTrace& expected, const RunTrace& actual)
      : expected_(expected), actual_(actual) {
    for (const TracedValue& value : actual.values)
      is_judged_.push_back(value.is_seen() && std::ranges::any_of(expected.values, [&](auto& e) {
                             return e.is_seen() && are_alike(value, e);
                           }));
    is_restored_.resize(actual.values.size(), false);
    for (const TracedLayer& layer : actual.layers) {
      const bool restores = std::ranges::any_of(
          layer.inputs, [&](size_t v) { return actual.values[v].is_seen() && !is_judged_[v]; });
      for (const size_t v : layer.outputs) is_restored_[v] = restores;
    }
    // Nobody saw what a view gave that only views read.
    for (const size_t v : actual.outputs) is_judged_[v] = actual.values[v].is_seen();
  }

  bool is_judged(size_t v) const { return is_judged_[v]; }

  bool is_right(size_t v, double bar) const {
    return std::ranges::any_of(expected_.values, [&](const TracedValue& e) {
      return may_be(v, e) && agree(actual_.values[v], e, bar);
    });
  }

  // An output may be like nothing: then any type will do.
  double distance_to_nearest(size_t v) const {
    double of_alike = kNothingAlike, of_others = kNothingAlike;
    for (const TracedValue& e : expected_.values) {
      double& least = may_be(v, e) ? of_alike : of_others;
      least =
          std::min(least, distance_of(actual_.values[v], e, std::numeric_limits<double>::max()));
    }
    return std::isfinite(of_alike) ? of_alike : of_others;
  }

 private:
  // A layer gives a constant of the model where it restores weights from 8-bit numbers; elsewhere
  // it is chance that both are equal.
  bool may_be(size_t v, const TracedValue& e) const {
    return are_alike(actual_.values[v], e) && (!e.constant || is_restored_[v]);
  }

  const RunTrace &expected_, &actual_;
  std::vector<bool> is_judged_, is_restored_;  // parallel to the values of `actual`
};

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
  const Likeness likeness(expected, actual);
  size_t wrong = 0;
  const TracedLayer* first = nullptr;
  for (size_t i = actual.layers.size(); i-- > 0;) {
    const TracedLayer& layer = actual.layers[i];
    if (std::ranges::none_of(layer.outputs, [&](size_t v) { return suspect[v]; })) continue;
    const auto found = std::ranges::find_if(
        layer.outputs, [&](size_t v) { return suspect[v] && likeness.is_judged(v); });
    if (found != layer.outputs.end()) {
      first = &layer;
      wrong = *found;
    }
    for (const size_t v : layer.inputs) {
      if (actual.values[v].computed && !likeness.is_right(v, bar)) suspect[v] = true;
    }
  }
  if (!first) return std::nullopt;
  return Divergence{first->name, first->op, likeness.distance_to_nearest(wrong)};
}

Result<std::optional<Divergence>> first_divergence(const Graph& imported, const Graph& optimised,
                                                   const std::vector<Tensor>& inputs, double bar) {
  TRY(const RunTrace expected, trace_graph(imported, inputs));
  TRY(const RunTrace actual, trace_graph(optimised, inputs));
  return first_divergence(expected, actual, bar);
}

}  // namespace enginery
