// A clock that stands where a test puts it.
#pragma once

#include "engine/base/clock.h"

namespace enginery {

struct StillClock final : Clock {
  Nanoseconds now = std::chrono::hours(1);
  Nanoseconds monotonic() const override { return now; }
  Nanoseconds wall_time() const override { return now; }
};

}  // namespace enginery
