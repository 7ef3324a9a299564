// The queue's tables in the catalog's database. Inside coordinator only; store.h is what others
// see.
#pragma once

#include <span>

#include "cache/catalog.h"
#include "coordinator/store/store.h"

namespace enginery {

// A job's request, as its row keeps it.
inline constexpr size_t kMaxStoredRequest = 16 << 20;

std::span<const Migration> queue_migrations();

// The uses of a target as one value: 52 bytes each (README.md).
Bytes encode_uses(const std::vector<StepUse>& uses);
Result<std::vector<StepUse>> decode_uses(ByteSpan bytes);

Result<LoadedQueue> load_queue(Database& database);

}  // namespace enginery
