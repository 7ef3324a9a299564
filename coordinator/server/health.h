// Whether the catalog can be written and read: what /healthz tries.
//
// Threads: from any thread; takes the catalog's connection for three small transactions.
#pragma once

#include "cache/catalog.h"

namespace enginery {

// Stores a blob (a file: of more than kInlineBlobBytes), pins it, reads it back, unpins and removes
// it. Errors: storage, corrupt_data; the message says at which of these.
Status try_catalog(Catalog& catalog);

}  // namespace enginery
