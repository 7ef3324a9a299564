#include "tuner/accuracy/sensitivity.h"

#include <algorithm>
#include <cstdio>

namespace enginery {
namespace {

constexpr size_t kMostLayersNamed = 10;

}  // namespace

Result<std::vector<LayerSensitivity>> layer_sensitivity(
    const Graph& in_float, const TensorScales& scales, const ChannelMeans& means,
    HeldOutCheck& check, const WatchOptions& options, const RowProgress& progress) {
  Graph all = in_float;
  TRY(const QuantizedProducts quantized, quantize_products(all, scales));
  WatchOptions of_outputs = options;
  of_outputs.outputs_only = true;
  std::vector<LayerSensitivity> out;
  for (const std::string& layer : quantized.layers) {
    Graph one = in_float;
    TRY([[maybe_unused]] const QuantizedProducts only,
        quantize_products(
            one, scales, [&](const std::string& name) { return name == layer; }, means));
    TRY(const auto model, WatchedModel::make(one, of_outputs));
    TRY(const AccuracyFigures figures,
        check.compare(
            network_of(*model, one), [](int64_t, int64_t) { return Status(); }, kSensitivityRows));
    out.push_back({layer, figures.sqnr_db(), figures.drop_percent()});
    CHECK_OK(
        progress(static_cast<int64_t>(out.size()), static_cast<int64_t>(quantized.layers.size())));
  }
  std::ranges::stable_sort(out, {}, &LayerSensitivity::sqnr_db);
  return out;
}

std::string to_text(const LayerSensitivity& layer) {
  char figures[64];
  std::snprintf(figures, sizeof figures, " %.1f dB, drop %.2f %%", layer.sqnr_db,
                layer.drop_percent);
  return layer.layer + figures;
}

std::string most_sensitive(const std::vector<LayerSensitivity>& layers) {
  std::string out = "; the most sensitive layers, each alone in int8: ";
  for (size_t i = 0; i < std::min(layers.size(), kMostLayersNamed); ++i)
    out += (i == 0 ? "" : ", ") + to_text(layers[i]);
  return out;
}

}  // namespace enginery
