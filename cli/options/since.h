// `--since`: a time, or how long ago. Threads: a free function without state.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// "90s", "15m", "2h", "3d" before `now_ns`, or a time of UTC as in every --json
// ("2026-11-21T06:50:12Z", also without the time of day); nanoseconds since 1970. usage: neither.
Result<int64_t> parse_since(const std::string& text, int64_t now_ns);

}  // namespace enginery
