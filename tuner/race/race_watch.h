// RaceWatch: looks every 20 ms, as long as a race runs, whether the device is slowed by heat or by
// its power supply.
//
// Where: a race asks it after each round. A thread of its own, where the device can tell at all
// (Measurer::throttle_bits); the methods belong to the race's thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/device/measurer.h"
#include "tuner/race/race.h"

namespace enginery {

class RaceWatch {
 public:
  // Null, or a measurer that cannot tell: nothing is ever seen. `measurer` outlives the watch.
  explicit RaceWatch(Measurer* measurer);

  // What was seen since it was last asked.
  Throttling since_last_time();
  // Returns when the device was seen to be itself again, or after a quarter of a second.
  void rest();

 private:
  void look();
  void watch(const std::stop_token& stopped);

  Measurer* const measurer_;
  std::mutex mutex_;
  std::condition_variable_any looked_;
  uint64_t latest_ = 0;  // of the last look
  Throttling seen_{0, false};
  std::jthread thread_;  // last, so that it ends first: it uses all the others
};

// The reasons that spoil a measurement, in words: "hardware slowdown, power brake".
std::string throttle_text(uint64_t bits);

}  // namespace enginery
