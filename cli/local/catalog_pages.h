// Lists of engines that no single answer holds: page by page through a CatalogDoor.
// Threads: a free function without state.
#pragma once

#include <optional>
#include <string>

#include "cli/local/catalog_door.h"
#include "cli/output/json_output.h"

namespace enginery {

// The document of `catalog ls` with the newest `limit` engines of the name ("": of all names), or
// with all of them; "tags" has those of these engines.
Result<Json> list_all_engines(const CatalogDoor& door, const std::string& name,
                              std::optional<int64_t> limit);

}  // namespace enginery
