// Which nodes of an optimised graph a user means who asks for the precision of layers.
//
// Where: when a model is loaded, before anything is lowered. Free functions without state.
#pragma once

#include "engine/options/layer_precisions.h"
#include "engine/plan/network.h"

namespace enginery {

// The precision of each node that is meant. `imported` is the graph before the passes: a layer that
// is only there was merged into others, and is refused with that reason, for what it asks would
// hold nowhere. Errors: not_found (a name or pattern that no node has, with the nearest names).
Result<NodePrecisions> layers_meant(const Graph& graph, const Graph& imported,
                                    const LayerPrecisions& asked);

// What tactics of the graph depend on, with those precisions by the nodes' places: names are not
// part of it.
Digest structure_with(const Digest& structure, const Graph& graph, const NodePrecisions& meant);

}  // namespace enginery
