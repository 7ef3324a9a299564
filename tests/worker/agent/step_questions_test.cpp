// Questions of a running step: a farm that is away holds up no measurement.
#include "worker/agent/step_questions.h"

#include <gtest/gtest.h>

#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

struct MovedClock final : Clock {
  Nanoseconds now = std::chrono::hours(1);
  Nanoseconds monotonic() const override { return now; }
  Nanoseconds wall_time() const override { return now; }
};

TEST(StepQuestions, AFarmThatIsAwayIsLeftAloneForAWhile) {
  MovedClock clock;
  int dialled = 0;
  bool away = true;
  const Dial answering = dial_of([](const Body& request) -> Body {
    const auto& get = std::get<GetTimings>(request);
    return TimingList{{{get.device, get.problems.at(0), "a", "{}", 1}}, 0, true};
  });
  const Dial dial = [&](const std::string& address, size_t max_bytes) {
    ++dialled;
    clock.now += std::chrono::seconds(3);
    if (away)
      return Result<std::unique_ptr<Link>>(Error{ErrorCode::unavailable, "nobody is there"});
    return answering(address, max_bytes);
  };
  StepQuestions questions(
      {"fake", "tester", dial}, [] { return false; }, &clock);
  EXPECT_TRUE(questions.known_timings(sha256("device"), sha256("problem")).empty());
  EXPECT_EQ(dialled, 2);  // six seconds
  away = false;
  EXPECT_TRUE(questions.known_timings(sha256("device"), sha256("problem")).empty());
  EXPECT_EQ(dialled, 2);  // not asked
  clock.now += std::chrono::seconds(30);
  const auto known = questions.known_timings(sha256("device"), sha256("problem"));
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].problem, sha256("problem"));
}

}  // namespace
}  // namespace enginery
