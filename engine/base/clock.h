// Time as a seam: production code takes a Clock wherever time decides something, tests and the
// simulator pass a fake one. Durations are nanoseconds everywhere.
#pragma once

#include <chrono>

namespace enginery {

using Nanoseconds = std::chrono::nanoseconds;

// Thread-safe. Leases and time-outs use monotonic time; dates in provenance use wall time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds monotonic() const = 0;  // since an arbitrary start; never goes back
  virtual Nanoseconds wall_time() const = 0;  // since the Unix epoch
};

// The machine's clocks (CLOCK_MONOTONIC, CLOCK_REALTIME).
class SystemClock final : public Clock {
 public:
  Nanoseconds monotonic() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
  Nanoseconds wall_time() const override {
    return std::chrono::system_clock::now().time_since_epoch();
  }
};

// For messages and measurements; decisions compare Nanoseconds.
inline double to_seconds(Nanoseconds t) {
  return std::chrono::duration<double>(t).count();
}

// Adds the seconds between its construction and its destruction, by `clock`, to `seconds`; both
// must outlive it.
class TimedScope {
 public:
  TimedScope(double& seconds, const Clock& clock)
      : seconds_(seconds), clock_(clock), begin_(clock.monotonic()) {}
  ~TimedScope() { seconds_ += to_seconds(clock_.monotonic() - begin_); }
  TimedScope(const TimedScope&) = delete;
  TimedScope& operator=(const TimedScope&) = delete;

 private:
  double& seconds_;
  const Clock& clock_;
  const Nanoseconds begin_;
};

}  // namespace enginery
