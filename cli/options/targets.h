// What `--target`, `--sku` and `--skus` name: SKUs of the table, and `this`.
//
// Where: every verb that takes a device. Threads: free functions without state.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

// This host's fastest SKU: a GPU before the CPU, then the highest instruction set. Errors:
// incompatible, where the host has none.
Result<std::string> this_sku();

// The SKUs in the order of their names, `this` replaced by this_sku() and duplicates dropped.
// Errors: usage (no name at all, or an unknown one, with the nearest ones); as this_sku.
Result<std::vector<std::string>> resolve_targets(const std::vector<std::string>& names);

// Errors: usage, where the name is no SKU's, with the nearest ones.
Status check_sku(const std::string& name);

}  // namespace enginery
