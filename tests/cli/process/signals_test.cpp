#include "cli/process/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

#include "tests/cli/signals_of_process.h"

namespace enginery {
namespace {

TEST(Interrupt, TurnsTheFirstSignalIntoAnAnswer) {
  const SignalsOfTheProcess restore;
  for (const int signal : {SIGINT, SIGTERM}) {
    const Interrupt interrupt;
    EXPECT_FALSE(interrupt.requested());
    std::raise(signal);
    EXPECT_TRUE(interrupt.requested());
  }
}

TEST(Interrupt, TheSecondSignalEndsTheProcess) {
  const SignalsOfTheProcess restore;
  EXPECT_EXIT(
      {
        const Interrupt interrupt;
        std::raise(SIGINT);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, AfterItsEndASignalEndsTheProcess) {
  const SignalsOfTheProcess restore;
  EXPECT_EXIT(
      {
        { const Interrupt interrupt; }
        std::raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
}

// In a process of its own: a signal of the process may go to any thread that does not block it, and
// other tests of this program leave threads behind.
TEST(Termination, CallsStopOnceAtTheFirstSignal) {
  const auto stops_once = [] {
    block_termination_signals();
    std::atomic<int> stops = 0;
    {
      const Termination termination([&] { ++stops; });
      kill(getpid(), SIGTERM);
      for (int i = 0; i < 1000 && stops == 0; ++i) usleep(5'000);
    }
    _exit(stops == 1 ? 0 : 1);
  };
  EXPECT_EXIT(stops_once(), testing::ExitedWithCode(0), "");
}

TEST(Termination, EndsWithoutASignal) {
  const SignalsOfTheProcess restore;
  block_termination_signals();
  std::atomic<int> stops = 0;
  {
    const Termination termination([&] { ++stops; });
  }
  EXPECT_EQ(stops, 0);
}

}  // namespace
}  // namespace enginery
