// The network file: a graph as it was put together, with its names and its constants' bytes, for
// networks that were made layer by layer and not read from a model of somebody else's format.
//
// Where: builder/ writes one to have a network built, the importer of this folder reads it, on
// whichever machine. engine/import/README.md has the grammar. Threads: free functions without
// state.
#pragma once

#include "engine/graph/graph.h"

namespace enginery {

// What every network file begins with; its last digit is the format's version.
inline constexpr std::string_view kNetworkFileMagic = "ENGNET1\n";

// Errors: invalid_argument (a name that is no UTF-8).
Result<Bytes> save_network(const Graph& graph);

// The graph, its types inferred again. An input in `values` becomes that constant. Errors:
// invalid_argument that names what is wrong: no such file, cut, a record or a number that
// contradicts another, a layer that its operator refuses.
Result<Graph> read_network(std::string_view bytes, const std::map<std::string, Tensor>& values);

}  // namespace enginery
