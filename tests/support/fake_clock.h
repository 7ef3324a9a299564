// A clock that only moves when a test says so.
#pragma once

#include <atomic>

#include "engine/base/clock.h"

namespace enginery::test {

// Both clocks begin at the same moment and go on together. Thread-safe.
class FakeClock final : public Clock {
 public:
  Nanoseconds monotonic() const override { return Nanoseconds(now_); }
  Nanoseconds wall_time() const override { return Nanoseconds(now_); }
  void advance(Nanoseconds by) { now_ += by.count(); }

 private:
  std::atomic<int64_t> now_ = 1'000'000'000'000;
};

}  // namespace enginery::test
