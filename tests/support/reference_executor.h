// The reference executor under the tests' namespace.
#pragma once

#include "engine/graph/run_graph.h"

namespace enginery::test {

using enginery::run_graph;

}  // namespace enginery::test
