#include "engine/compile/value_errors.h"

#include <map>
#include <set>

#include "engine/tensor/tensor_errors.h"

namespace enginery {
namespace {

struct NamedValue {
  const TracedLayer* layer = nullptr;
  const TracedValue* value = nullptr;
};

// The first that layers show under each name, in their order. Inputs and constants keep their
// names, whoever lays them out anew.
std::vector<NamedValue> shown_values(const RunTrace& trace) {
  std::set<std::string> taken;
  for (const TracedValue& value : trace.values) {
    if (!value.computed) taken.insert(value.name);
  }
  std::vector<NamedValue> out;
  for (const TracedLayer& layer : trace.layers) {
    for (const size_t v : layer.outputs) {
      const TracedValue& value = trace.values[v];
      if (value.is_seen() && taken.insert(value.name).second) out.push_back({&layer, &value});
    }
  }
  return out;
}

Tensor samples_of(const TracedValue& value) {
  return Tensor::of<double>({std::ssize(value.samples)}, value.samples);
}

}  // namespace

std::vector<ValueErrors> value_errors(const RunTrace& actual, const RunTrace& reference) {
  std::map<std::string, const TracedValue*> by_name;
  for (const NamedValue& r : shown_values(reference)) by_name.emplace(r.value->name, r.value);
  std::vector<ValueErrors> out;
  for (const auto& [layer, value] : shown_values(actual)) {
    const auto found = by_name.find(value->name);
    if (found == by_name.end() || !are_alike(*value, *found->second)) continue;
    const TensorErrors errors = errors_of(samples_of(*value), samples_of(*found->second));
    out.push_back({value->name, layer->op, errors.relative, errors.sqnr_db});
  }
  return out;
}

}  // namespace enginery
