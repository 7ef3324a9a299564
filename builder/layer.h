// A layer as a caller asks for it, and what it becomes in the graph.
//
// Where: below enginery_network_add_layer. Free functions without state.
#pragma once

#include <optional>

#include "engine/graph/graph.h"

namespace enginery {

struct LayerRequest {
  Op op;
  std::string name;  // "" means the operator's word
  std::vector<ValueId> inputs;
  std::vector<std::string> output_names;  // fewer than results: the others have the layer's name
  std::optional<DataType> precision, output_type;
  size_t max_outputs = 0;  // invalid_argument where there are more
};

// Adds the layer, with the conversions that its precision and type ask for, and gives its results.
// On error the graph is unchanged. Errors: those of infer_types; invalid_argument (no room, a
// precision that no layer computes in).
Result<std::vector<ValueId>> add_layer(Graph& graph, const LayerRequest& layer);

}  // namespace enginery
