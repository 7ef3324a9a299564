// Random graphs of joins and cuts whose parts begin at multiples of 256 bytes, so that planning may
// make parts of one memory of them: nested, of inputs, constants and outputs, of values that are
// read twice, through reshapes, and along axes where no part is one piece.
#pragma once

#include <cstdint>

#include "engine/graph/graph.h"

namespace enginery::test {

// About `nodes` nodes; the same graph for the same seed. Two inputs, "x" and "z", float32.
Graph sliced_graph(uint64_t seed, int nodes);

}  // namespace enginery::test
