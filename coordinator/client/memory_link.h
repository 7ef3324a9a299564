// Links without a network, for tests: two ends of one wire in memory.
#pragma once

#include <utility>

#include "coordinator/client/link.h"

namespace enginery {

// What one end sends, the other receives, in order. The ends may be used by two threads (one each).
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_memory_links();

}  // namespace enginery
