// How much memory single tactics may take: "workspace:64M".
//
// Where: a part of BuildOptions; the compiler keeps tactics to it (workspace_limit.h of
// engine/plan). Plain values; free functions without state.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace enginery {

struct MemoryPools {
  // Bytes of scratch memory that a tactic may take for one launch; none: no limit.
  std::optional<int64_t> workspace;
  friend bool operator==(const MemoryPools&, const MemoryPools&) = default;
};

// "workspace:64", in MiB as trtexec counts, or with a unit, "workspace:0.5G" (B, K, M, G); a size
// alone is the workspace's; "" sets no limit. Errors: usage (another pool: these devices have none;
// no size).
Result<MemoryPools> parse_memory_pools(std::string_view text);
// The limit in bytes, "workspace:67108864B"; "" where there is none.
std::string to_text(const MemoryPools& pools);

}  // namespace enginery
