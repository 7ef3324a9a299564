// The layers' shares of what quantisation loses: the model with one layer in 8 bits at a time, the
// rest in float.
//
// Where: said where an engine is not near enough to the float model. Free functions without state.
#pragma once

#include "engine/compile/quantize_products.h"
#include "tuner/accuracy/held_out_check.h"

namespace enginery {

struct LayerSensitivity {
  std::string layer;
  double sqnr_db = 0;  // with this layer alone in 8 bits
  double drop_percent = 0;
};

// Every layer that the scales quantise, the worst first; its bias corrected where there are means.
// Each runs on at most kSensitivityRows of
// the held-out rows. Errors: those of quantize_products, of WatchedModel and of `progress`, which
// is called after each layer with their numbers.
Result<std::vector<LayerSensitivity>> layer_sensitivity(
    const Graph& in_float, const TensorScales& scales, const ChannelMeans& means,
    HeldOutCheck& check, const WatchOptions& options, const RowProgress& progress);

inline constexpr int64_t kSensitivityRows = 32;

// "conv1 18.2 dB, drop 3.00 %".
std::string to_text(const LayerSensitivity& layer);
// "; the most sensitive layers, each alone in int8: conv1 18.2 dB, drop 3.00 %, ...", ten of them.
std::string most_sensitive(const std::vector<LayerSensitivity>& layers);

}  // namespace enginery
