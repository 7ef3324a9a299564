#include "engine/device/device_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

namespace enginery {
namespace {

class DeviceLockTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "enginery-lock-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    options_.folder = name;
    options_.timeout = std::chrono::milliseconds(60);
  }
  void TearDown() override { std::filesystem::remove_all(options_.folder); }
  DeviceLockOptions options_;
};

TEST_F(DeviceLockTest, IsHeldUntilItIsDropped) {
  {
    auto first = DeviceLock::acquire("gpu/0:1", options_);
    ASSERT_TRUE(first.ok()) << first.error().message;
    int waited = 0;
    std::string holder;
    options_.waiting = [&](const std::string& who) {
      ++waited;
      holder = who;
    };
    auto second = DeviceLock::acquire("gpu/0:1", options_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::timed_out);
    EXPECT_EQ(waited, 1);
    // Where /proc tells: this process, by its command.
    if (holder != "another process") {
      EXPECT_TRUE(holder.starts_with("process " + std::to_string(getpid()) + " (device_test"))
          << holder;
    }
    EXPECT_TRUE(DeviceLock::acquire("another", options_).ok());
  }
  EXPECT_TRUE(DeviceLock::acquire("gpu/0:1", options_).ok());
}

TEST_F(DeviceLockTest, WaitingEndsWhenItIsCancelled) {
  auto held = DeviceLock::acquire("cpu", options_);
  ASSERT_TRUE(held.ok());
  options_.timeout = std::chrono::minutes(5);
  int asked = 0;
  options_.cancelled = [&] { return ++asked == 2; };
  auto second = DeviceLock::acquire("cpu", options_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::cancelled);
  EXPECT_NE(second.error().message.find("waiting for the device, which "), std::string::npos);
}

// Half an hour passes while the test asks a few times.
TEST_F(DeviceLockTest, GivesUpWhenItsClockSaysSo) {
  struct TurnedClock final : Clock {
    Nanoseconds now{0};
    Nanoseconds monotonic() const override { return now; }
    Nanoseconds wall_time() const override { return now; }
  } clock;
  auto held = DeviceLock::acquire("cpu", options_);
  ASSERT_TRUE(held.ok());
  int asked = 0;
  options_.clock = &clock;
  options_.timeout = std::chrono::minutes(30);
  options_.cancelled = [&] {
    clock.now += std::chrono::minutes(10);
    ++asked;
    return false;
  };
  auto second = DeviceLock::acquire("cpu", options_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::timed_out);
  EXPECT_EQ(asked, 3);
}

TEST_F(DeviceLockTest, DiesWithItsProcess) {
  pid_t child = fork();
  if (child == 0) {
    auto lock = DeviceLock::acquire("cpu", options_);
    _exit(lock.ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(DeviceLock::acquire("cpu", options_).ok());
}

TEST_F(DeviceLockTest, MovesWithItsValue) {
  std::optional<DeviceLock> kept;
  {
    auto lock = DeviceLock::acquire("cpu", options_);
    ASSERT_TRUE(lock.ok());
    kept.emplace(std::move(*lock));
  }
  EXPECT_FALSE(DeviceLock::acquire("cpu", options_).ok());
  kept.reset();
  EXPECT_TRUE(DeviceLock::acquire("cpu", options_).ok());
}

TEST_F(DeviceLockTest, SaysWhichFileItCannotMake) {
  options_.folder = "/nonexistent/folder";
  auto lock = DeviceLock::acquire("cpu", options_);
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, ErrorCode::storage);
}

}  // namespace
}  // namespace enginery
