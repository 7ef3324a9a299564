// Failures that may have passed by themselves are tried again after their time; all others hold.
#include "tuner/timing/expiry.h"

#include <gtest/gtest.h>

#include "tests/tuner/planted_tactics.h"
#include "tuner/timing/read_only_store.h"

namespace enginery {
namespace {

using test::Planted;
using test::PlantedProblem;

constexpr double kDay = 24 * 60 * 60;
const char* kTried = "act kind=relu | float32[1x4x8x8]";

struct SetClock final : Clock {
  double days = 100;
  Nanoseconds monotonic() const override { return Nanoseconds{0}; }
  Nanoseconds wall_time() const override {
    return std::chrono::seconds(static_cast<int64_t>(days * kDay));
  }
};

Timing failed(FailureKind kind, int attempts) {
  Timing t;
  t.tactic = "a";
  t.failure = "it failed";
  t.failure_kind = kind;
  t.attempts = attempts;
  t.unix_seconds = 1000 * kDay;
  return t;
}

TEST(Expiry, HasItsTimeAndItsAttemptsForEachKind) {
  struct Row {
    FailureKind kind;
    int days, attempts;  // 0: holds for good
  };
  for (const Row& row : {Row{FailureKind::unknown, 0, 0}, Row{FailureKind::compile, 0, 0},
                         Row{FailureKind::launch, 1, 4}, Row{FailureKind::wrong_result, 0, 0},
                         Row{FailureKind::red_zone, 0, 0}, Row{FailureKind::timed_out, 7, 3},
                         Row{FailureKind::fault, 14, 2}, Row{FailureKind::crash, 0, 0}}) {
    const std::string kind(to_string(row.kind));
    const Timing first = failed(row.kind, 1);
    if (row.days == 0) {
      EXPECT_FALSE(is_due_again(first, 1e6 * kDay)) << kind;
      continue;
    }
    EXPECT_FALSE(is_due_again(first, (1000 + row.days) * kDay - 1)) << kind;
    EXPECT_TRUE(is_due_again(first, (1000 + row.days) * kDay)) << kind;
    EXPECT_TRUE(is_due_again(failed(row.kind, row.attempts - 1), 1e6 * kDay)) << kind;
    EXPECT_FALSE(is_due_again(failed(row.kind, row.attempts), 1e6 * kDay)) << kind;
  }
  Timing ran = failed(FailureKind::launch, 1);
  ran.failure.clear();
  EXPECT_FALSE(is_due_again(ran, 1e6 * kDay));
}

// One tactic fails to launch until it is mended, the other is wrong for good.
struct Failing {
  SetClock clock;
  bool is_mended = false;
  int wrong_launches = 0;
  PlantedProblem problem{kTried, {}};
  Failing() {
    Planted busy{"busy", 5};
    busy.launched = [this]() -> Status {
      return is_mended ? Status() : Status(Error{ErrorCode::internal, "launch failed"});
    };
    Planted wrong{"wrong", 4, [this](test::PlantedLaunch& launch) {
                    ++wrong_launches;
                    launch.outputs[0].mutable_data<float>()[0] += 1;
                  }};
    problem.offer({busy, wrong, Planted{"right", 10}});
  }
  std::string winner() {
    TunerOptions options;
    options.clock = &clock;
    return problem.winner(options);
  }
};

TEST(Expiry, LetsATacticThatFailedToLaunchRunAgainAndAWrongOneNever) {
  Failing failing;
  ASSERT_EQ(failing.winner(), "right");
  EXPECT_EQ(failing.problem.timing("busy").failure_kind, FailureKind::launch);
  EXPECT_EQ(failing.problem.timing("busy").attempts, 1);
  failing.is_mended = true;
  failing.clock.days += 0.9;
  EXPECT_EQ(failing.winner(), "right") << "not yet";
  failing.clock.days += 0.2;
  const int wrong_before = failing.wrong_launches;
  EXPECT_EQ(failing.winner(), "busy");
  EXPECT_EQ(failing.problem.timing("busy").failure, "");
  failing.clock.days += 10'000;
  EXPECT_EQ(failing.winner(), "busy");
  EXPECT_EQ(failing.wrong_launches, wrong_before);
}

TEST(Expiry, GivesUpAfterItsAttempts) {
  Failing failing;
  for (int attempts = 1; attempts <= 4; ++attempts) {
    EXPECT_EQ(failing.winner(), "right");
    EXPECT_EQ(failing.problem.timing("busy").attempts, attempts);
    failing.clock.days += 2;
  }
  failing.is_mended = true;
  EXPECT_EQ(failing.winner(), "right") << "it has failed four times";
}

// Over a store that only reads nothing is tried again, and nothing is missing.
TEST(Expiry, LeavesWhatIsKnownToAStoreThatOnlyReads) {
  Failing failing;
  ASSERT_EQ(failing.winner(), "right");
  failing.clock.days += 1000;
  PlantedProblem& p = failing.problem;
  ReadOnlyTimingStore read_only(p.store);
  TunerOptions options;
  options.clock = &failing.clock;
  MeasuringContext context(p.device, p.sources, read_only, options, p.counts);
  const auto tactics = p.sources[0]->offer(p.problem, {});
  const auto times = ProblemTuner(context).time(p.problem, *tactics);
  ASSERT_TRUE(times.ok()) << times.error().message;
  EXPECT_EQ(times->us[0], kInfinity);
}

}  // namespace
}  // namespace enginery
