#include "tuner/accuracy/layer_budget.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace enginery {
namespace {

bool is_wanted(const LayerBudget& budget, const std::string& layer) {
  return !budget.wanted || budget.wanted(layer);
}

// The model with all wanted layers but these in 8 bits, on all rows.
Result<AccuracyFigures> figures_without(const std::set<std::string>& kept, const Graph& in_float,
                                        const TensorScales& scales, HeldOutCheck& check,
                                        const LayerBudget& budget) {
  Graph mixed = in_float;
  TRY([[maybe_unused]] const QuantizedProducts quantized,
      quantize_products(
          mixed, scales,
          [&](const std::string& name) { return !kept.contains(name) && is_wanted(budget, name); },
          budget.means));
  WatchOptions of_outputs = budget.device;
  of_outputs.outputs_only = true;
  TRY(const auto model, WatchedModel::make(mixed, of_outputs));
  const std::string phase =
      "the model with " + std::to_string(kept.size()) + " layers kept in float";
  return check.compare(network_of(*model, mixed), budget.progress(phase));
}

std::set<std::string> first_of(const std::vector<LayerSensitivity>& layers, size_t count) {
  std::set<std::string> out;
  for (size_t i = 0; i < count; ++i) out.insert(layers[i].layer);
  return out;
}

}  // namespace

Result<FloatLayers> layers_in_float(const Graph& in_float, const TensorScales& scales,
                                    HeldOutCheck& check, const LayerBudget& budget) {
  FloatLayers out;
  Graph all = in_float;
  TRY(const QuantizedProducts quantized, quantize_products(all, scales, budget.wanted));
  out.int8_layers = quantized.layers.size();
  TRY(out.all, figures_without({}, in_float, scales, check, budget));
  out.kept = out.all;
  if (out.all.drop_percent() <= budget.max_drop_percent) return out;
  TRY(out.sensitivities, layer_sensitivity(in_float, scales, budget.means, check, budget.device,
                                           budget.progress("sensitivity of layers")));
  std::erase_if(out.sensitivities,
                [&](const LayerSensitivity& one) { return !is_wanted(budget, one.layer); });
  // With `least` layers in float it loses too much, with `enough` it does not; all of them are no
  // int8 at all.
  size_t least = 0, enough = out.sensitivities.size();
  while (enough - least > 1) {
    const size_t middle = least + (enough - least) / 2;
    TRY(AccuracyFigures figures,
        figures_without(first_of(out.sensitivities, middle), in_float, scales, check, budget));
    const bool is_within = figures.drop_percent() <= budget.max_drop_percent;
    (is_within ? enough : least) = middle;
    if (is_within) out.kept = std::move(figures);
  }
  if (enough == out.sensitivities.size()) {
    char text[128];
    std::snprintf(text, sizeof text,
                  "int8: a drop of %.2f %% with all layers in int8, and more than the %.6g %% of "
                  "--max-accuracy-drop with any",
                  out.all.drop_percent(), budget.max_drop_percent);
    return Error{ErrorCode::unsupported, text + most_sensitive(out.sensitivities)};
  }
  out.layers = first_of(out.sensitivities, enough);
  out.int8_layers -= out.layers.size();
  return out;
}

Bytes write_float_layers(const std::set<std::string>& layers) {
  return nlohmann::json(layers).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::set<std::string>> parse_float_layers(std::string_view bytes) {
  const auto json = nlohmann::json::parse(bytes, nullptr, false);
  std::set<std::string> out;
  const auto damaged = [] {
    return Error{ErrorCode::invalid_argument, "the list of layers in float is damaged"};
  };
  if (!json.is_array()) return damaged();
  for (const auto& name : json) {
    if (!name.is_string()) return damaged();
    out.insert(name.get<std::string>());
  }
  return out;
}

}  // namespace enginery
