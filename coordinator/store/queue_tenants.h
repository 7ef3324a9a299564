// In whose name a job was submitted, out of the catalog: for those who have no queue at hand.
// Threads: a free function; the catalog is thread-safe.
#pragma once

#include <optional>

#include "cache/catalog.h"

namespace enginery {

// The job's tenant, "" for the default one; nothing where there is no such job (any longer).
Result<std::optional<std::string>> tenant_of_job(Catalog& catalog, const std::string& job);

}  // namespace enginery
