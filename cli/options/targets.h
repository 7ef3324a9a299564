// What `--target`, `--sku` and `--skus` name: SKUs of the table, and `this`.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace enginery {

// This host's fastest SKU (a GPU before the CPU, then the highest instruction set). unavailable
// never; incompatible when the host has none.
Result<std::string> this_sku();

// `this` resolved, unknown names refused (usage, with the nearest ones), duplicates dropped, the
// order kept.
Result<std::vector<std::string>> resolve_targets(const std::vector<std::string>& names);

// usage: not a SKU's name.
Status check_sku(const std::string& name);

}  // namespace enginery
