// A watch on a device whose reasons for throttling the test sets.
#include "tuner/race/race_watch.h"

#include <gtest/gtest.h>

#include <atomic>

namespace enginery {
namespace {

struct ThrottledDevice final : Measurer {
  std::atomic<uint64_t> bits = 0;
  std::atomic<int> asked = 0;
  bool can_tell = true;
  Result<double> time_us(Stream&, CommandList&) override { return 1; }
  double min_resolvable_us() const override { return 1; }
  DeviceState state() override { return {}; }
  std::optional<uint64_t> throttle_bits() override {
    ++asked;
    return can_tell ? std::optional<uint64_t>(bits) : std::nullopt;
  }
  // Returns when it was asked at least once more.
  void wait_for_a_look() {
    const int before = asked;
    while (asked < before + 2) std::this_thread::yield();
  }
};

TEST(RaceWatch, SaysWhatSpoilsAMeasurementUntilItIsOver) {
  ThrottledDevice device;
  RaceWatch watch(&device);
  device.wait_for_a_look();
  EXPECT_EQ(watch.since_last_time().bits, 0u);
  device.bits = 0x08 | 0x04;
  device.wait_for_a_look();
  EXPECT_EQ(watch.since_last_time().bits, 0x08u) << "a power cap is the card's own state";
  EXPECT_EQ(watch.since_last_time().bits, 0x08u) << "nothing else was seen yet";
  device.bits = 0;
  device.wait_for_a_look();
  (void)watch.since_last_time();
  EXPECT_EQ(watch.since_last_time().bits, 0u);
}

TEST(RaceWatch, RestsUntilTheDeviceIsItselfAgain) {
  ThrottledDevice device;
  device.bits = 0x80;
  RaceWatch watch(&device);
  device.wait_for_a_look();
  ASSERT_EQ(watch.since_last_time().bits, 0x80u);
  device.bits = 0;
  watch.rest();
  EXPECT_EQ(watch.since_last_time().bits, 0u);
}

TEST(RaceWatch, LeavesADeviceAloneThatCannotTell) {
  ThrottledDevice device;
  device.can_tell = false;
  device.bits = 0x08;
  RaceWatch watch(&device), none(nullptr);
  EXPECT_EQ(device.asked, 1);
  EXPECT_EQ(watch.since_last_time().bits, 0u);
  EXPECT_EQ(none.since_last_time().bits, 0u);
}

TEST(ThrottleText, NamesTheReasons) {
  EXPECT_EQ(throttle_text(0x88), "hardware slowdown, power brake");
  EXPECT_EQ(throttle_text(0x04), "");
}

}  // namespace
}  // namespace enginery
