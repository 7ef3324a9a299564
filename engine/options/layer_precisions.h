// What a user asks of single layers: "conv1:fp32,head/*:fp16".
//
// Where: a part of BuildOptions; the compiler finds the layers that are meant (layers_meant.h of
// engine/compile). Plain values; free functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "enginery/result.h"
#include "enginery/types.h"

namespace enginery {

// The layers of that name, in which * stands for any characters, compute in that precision or in
// fp32, and in nothing else.
struct LayerPrecision {
  std::string layer;
  Precision precision = Precision::fp32;
};

// In the order in which they were given.
using LayerPrecisions = std::vector<LayerPrecision>;

// "NAME:fp32,NAME:fp16". Errors: usage (no name, no precision).
Result<LayerPrecisions> parse_layer_precisions(std::string_view text);
std::string to_text(const LayerPrecisions& layers);

bool is_pattern(const LayerPrecision& asked);
bool matches(const LayerPrecision& asked, std::string_view layer);

// What holds for a layer: a name goes before patterns, the last one before the others. None: what
// the build allows.
std::optional<Precision> precision_of(const LayerPrecisions& asked, std::string_view layer);

}  // namespace enginery
