// What the queue needs of the catalog's blobs: for the collection, which must not take it.
// Threads: a free function; the catalog is thread-safe.
#pragma once

#include <set>

#include "cache/catalog.h"

namespace enginery {

// The models, inputs and intermediate results of jobs that have not ended; none where the folder
// has no queue. storage; corrupt_data: rows that this program cannot read.
Result<std::set<Digest>> blobs_of_running_jobs(Catalog& catalog);

}  // namespace enginery
