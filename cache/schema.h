// The catalog's tables as a history of migrations; cache/README.md says what each table is for.
#pragma once

#include <span>

#include "cache/sqlite.h"

namespace enginery {

inline constexpr std::string_view kCacheModule = "cache";

// Applied by Catalog::open under the module name "cache". Add at the end, never edit what was
// released.
std::span<const Migration> cache_migrations();

}  // namespace enginery
