// Which nodes of an optimised graph a user means who asks for the precision of layers.
//
// Where: when a model is loaded, before anything is lowered. Free functions without state.
#pragma once

#include "engine/options/layer_precisions.h"
#include "engine/plan/network.h"

namespace enginery {

// Names that stand for layers by their place.
inline constexpr std::string_view kFirstProducts = "@first";
inline constexpr std::string_view kLastProducts = "@last";

// With @first and @last as the names of the products (convolutions, Gemm, MatMul) that no other
// product's result gets to, and of those whose result gets to no other one.
LayerPrecisions with_names(const LayerPrecisions& asked, const Graph& graph);

// Whether int8 is left to the layer where it has scales: nothing is asked of it, or int8.
bool may_be_int8(const LayerPrecisions& asked, std::string_view layer);
// With fp32 where int8 is asked: for a network without scales.
LayerPrecisions without_int8(LayerPrecisions asked);

// The precision of each node that is meant. `imported` is the graph before the passes: a layer that
// is only there was merged into others, and is refused with that reason, for what it asks would
// hold nowhere. Errors: not_found (a name or pattern that no node has, with the nearest names).
Result<NodePrecisions> layers_meant(const Graph& graph, const Graph& imported,
                                    const LayerPrecisions& asked);

// What tactics of the graph depend on, with those precisions by the nodes' places: names are not
// part of it.
Digest structure_with(const Digest& structure, const Graph& graph, const NodePrecisions& meant);

}  // namespace enginery
