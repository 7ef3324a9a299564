// When profiling has seen enough, on a clock that the test turns.
#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

// Every look at it takes `step`.
class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(Nanoseconds step) : step_(step) {}
  Nanoseconds monotonic() const override {
    ++looks;
    return now_ += step_;
  }
  Nanoseconds wall_time() const override { return now_; }
  mutable int looks = 0;

 private:
  const Nanoseconds step_;
  mutable Nanoseconds now_{0};
};

// Looks at the clock while `runs` are made: one at the start and one after each run, and two within
// each run of the host's latency.
int looks_for(int runs, int warm_up = 5) {
  return (1 + 3 * (warm_up + runs)) + (1 + (warm_up + runs));
}

TEST(Profile, GivesTheMedianOfHostAndDeviceAndOneTimeAStep) {
  const test::Build build(test::two_outputs());
  const SteppingClock clock(std::chrono::microseconds(10));
  const auto profile = profile_content(build.content(), build.target, clock);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->median_us, 10);
  EXPECT_GT(profile->device_median_us, 0);
  EXPECT_EQ(profile->step_us.size(), 2u);
  for (const double us : profile->step_us) EXPECT_GT(us, 0);
}

TEST(Profile, TakesFewRunsOfASlowNetworkAndManyOfAFastOne) {
  const test::Build build(test::two_outputs());
  const auto looks = [&](Nanoseconds step) {
    const SteppingClock clock(step);
    EXPECT_TRUE(profile_content(build.content(), build.target, clock).ok());
    return clock.looks;
  };
  EXPECT_EQ(looks(std::chrono::seconds(1)), looks_for(3, 0)) << "the first run warmed it up";
  // 0.7 s are over after 25 runs of three looks each, and after 71 of one.
  EXPECT_EQ(looks(std::chrono::milliseconds(10)), (1 + 3 * 25) + (1 + 71));
  EXPECT_EQ(looks(std::chrono::nanoseconds(1)), looks_for(300));
}

}  // namespace
}  // namespace enginery
