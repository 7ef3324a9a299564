// What a build's options and its key become for one target: SKU names are resolved here, so that
// keys (pipeline/keys.h) need to ask no device. Threads: free functions without state.
#pragma once

#include <string>

#include "engine/options/options.h"

namespace enginery {

// Whether a SKU's name is a CPU's; false for a name that nobody knows.
bool is_cpu_sku(const std::string& sku);

// `threads` 0 becomes the number of cores that this process may use, so that keys and engines name
// a number.
BuildOptions resolve_threads(BuildOptions options);
// The options as they hold for one target: a GPU has no use for `threads`, so there it is 0.
BuildOptions options_for(const std::string& sku, BuildOptions options);

}  // namespace enginery
