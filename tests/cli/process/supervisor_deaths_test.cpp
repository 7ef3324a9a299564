// How `up` takes its children's deaths: what it says, when it starts them again, and in which order
// it ends them. By a clock that a test moves.
#include <gtest/gtest.h>
#include <unistd.h>

#include "cli/process/supervisor.h"
#include "tests/cli/fake_console.h"
#include "tests/cli/signals_of_process.h"
#include "tests/support/fake_clock.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Children are this very program: one test, which lasts until a signal ends it.
ChildSpec lasting(const std::string& name) {
  return {name, {"--gtest_also_run_disabled_tests", "--gtest_filter=DISABLED_LastingChild.Waits"}};
}

TEST(DISABLED_LastingChild, Waits) {
  for (;;) pause();
}

class SupervisorDeaths : public testing::Test {
 protected:
  SupervisorDeaths() { block_supervisor_signals(); }

  // Ends the child by the signal and lets the supervisor see it, with `age` behind its start.
  const Child& killed(int signal, Nanoseconds age = seconds(5)) {
    const int before = child().deaths;
    clock_.advance(age);
    EXPECT_EQ(kill(child().pid, signal), 0);
    for (int i = 0; i < 500 && child().deaths == before; ++i)
      EXPECT_FALSE(supervisor_.supervise(milliseconds(20)));
    EXPECT_EQ(child().deaths, before + 1);
    return child();
  }
  // Lets the child's rest pass; it then runs again.
  void rested() {
    clock_.advance(child().restart_at - clock_.monotonic());
    EXPECT_FALSE(supervisor_.supervise(milliseconds(0)));
    EXPECT_GT(child().pid, 0);
  }
  Nanoseconds rest() const { return child().restart_at - clock_.monotonic(); }
  const Child& child() const { return supervisor_.children()[0]; }

  const SignalsOfTheProcess restore_;
  FakeConsole fake_;
  test::FakeClock clock_;
  Supervisor supervisor_{fake_.console(), clock_};
};

TEST_F(SupervisorDeaths, ASignalIsNamedAndIs128AndItsNumber) {
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  const pid_t pid = child().pid;
  EXPECT_EQ(killed(SIGKILL).exit_code, 128 + SIGKILL);
  EXPECT_EQ(fake_.err(), "worker a (pid " + std::to_string(pid) +
                             ") was ended by signal 9 (Killed); restarting it in 0.2 s\n");
  EXPECT_EQ(fake_.out(), "") << "stdout is for pids and `ready`";
}

TEST_F(SupervisorDeaths, QuickDeathsInARowDoubleTheRestAndALongLifeEndsTheRow) {
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  for (const int expected_ms : {400, 800, 1600}) {
    killed(SIGKILL, milliseconds(10));
    EXPECT_EQ(rest(), milliseconds(expected_ms));
    rested();
  }
  killed(SIGKILL, seconds(1));
  EXPECT_EQ(rest(), milliseconds(200)) << "it had lived a second";
  rested();
  killed(SIGKILL, milliseconds(999));
  EXPECT_EQ(rest(), milliseconds(400));
  EXPECT_EQ(child().deaths, 5);
}

TEST_F(SupervisorDeaths, AChildRestsBeforeItIsStartedAgainUnderItsName) {
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  const pid_t first = child().pid;
  killed(SIGTERM);
  clock_.advance(milliseconds(199));
  EXPECT_FALSE(supervisor_.supervise(milliseconds(0)));
  EXPECT_EQ(child().pid, 0) << "one millisecond too early";
  rested();
  EXPECT_NE(child().pid, first);
  EXPECT_EQ(fake_.out(), "worker a pid " + std::to_string(child().pid) + "\n");
}

TEST_F(SupervisorDeaths, OneChildsDeathLeavesTheOthersAlone) {
  ASSERT_TRUE(supervisor_.add(lasting("coordinator")).ok());
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  const pid_t worker = supervisor_.children()[1].pid;
  killed(SIGKILL);
  rested();
  EXPECT_EQ(supervisor_.children()[1].pid, worker);
  EXPECT_EQ(supervisor_.children()[1].deaths, 0);
  EXPECT_EQ(kill(worker, 0), 0);
}

TEST_F(SupervisorDeaths, EachOfTheThreeSignalsAsksUpToEnd) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::raise(signal);  // to this thread: others of this program do not block it
    EXPECT_TRUE(supervisor_.supervise(seconds(5))) << signal;
  }
}

TEST_F(SupervisorDeaths, ACtrlCOfTheTerminalIsForUpAlone) {
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  for (int i = 0; i < 500 && getpgid(child().pid) == getpgrp(); ++i) usleep(10'000);
  EXPECT_EQ(getpgid(child().pid), child().pid) << "children are no members of its process group";
}

TEST_F(SupervisorDeaths, StopEndsAllAndACoordinatorLast) {
  ASSERT_TRUE(supervisor_.add(lasting("coordinator")).ok());
  ASSERT_TRUE(supervisor_.add(lasting("worker a")).ok());
  ASSERT_TRUE(supervisor_.add(lasting("worker b")).ok());
  killed(SIGKILL);  // the coordinator rests: there is nobody to end
  supervisor_.stop();
  for (const Child& one : supervisor_.children()) EXPECT_EQ(one.pid, 0) << one.spec.name;
  EXPECT_EQ(supervisor_.children()[0].exit_code, 128 + SIGKILL) << "its own death stays on record";
  EXPECT_EQ(supervisor_.children()[2].exit_code, 128 + SIGTERM);
}

}  // namespace
}  // namespace enginery
