#include "cli/process/supervisor.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>

#include "tests/cli/fake_console.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

// Children are this very program. One that lists no test ends at once.
const ChildSpec kShortLived{"worker a", {"--gtest_list_tests", "--gtest_filter=None.None"}};
// And one that lasts: the child runs DISABLED_Child.Sleeps below.
const ChildSpec kLongLived{
    "worker b", {"--gtest_also_run_disabled_tests", "--gtest_filter=DISABLED_Child.Sleeps"}};

TEST(DISABLED_Child, Sleeps) {
  for (;;) pause();
}

class SupervisorTest : public testing::Test {
 protected:
  SupervisorTest() {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask_);
    block_supervisor_signals();
  }
  ~SupervisorTest() override { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }

  FakeConsole fake_;
  const SystemClock clock_;

 private:
  sigset_t mask_{};
};

TEST_F(SupervisorTest, RestartsAChildThatDiedAndSaysWhy) {
  Supervisor supervisor(fake_.console(), clock_);
  ASSERT_TRUE(supervisor.add(kShortLived).ok());
  const pid_t first = supervisor.children()[0].pid;
  EXPECT_GT(first, 0);
  for (int i = 0; i < 200 && supervisor.children()[0].deaths == 0; ++i)
    EXPECT_FALSE(supervisor.supervise(milliseconds(100)));
  const Child& child = supervisor.children()[0];
  ASSERT_GE(child.deaths, 1);
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_NE(fake_.err().find("worker a (pid " + std::to_string(first) +
                             ") ended with exit code 0; restarting it in "),
            std::string::npos)
      << fake_.err();
  for (int i = 0; i < 200 && fake_.out().empty(); ++i)
    EXPECT_FALSE(supervisor.supervise(milliseconds(100)));
  EXPECT_TRUE(fake_.out().starts_with("worker a pid ")) << fake_.out();
}

TEST_F(SupervisorTest, EndsItsChildrenWhenItStops) {
  Supervisor supervisor(fake_.console(), clock_);
  ASSERT_TRUE(supervisor.add(kLongLived).ok());
  const pid_t pid = supervisor.children()[0].pid;
  supervisor.stop();
  EXPECT_EQ(supervisor.children()[0].pid, 0);
  EXPECT_EQ(supervisor.children()[0].exit_code, 128 + SIGTERM);
  EXPECT_EQ(kill(pid, 0), -1);
  supervisor.stop();
}

TEST_F(SupervisorTest, AnswersTrueWhenTheProcessIsAskedToEnd) {
  Supervisor supervisor(fake_.console(), clock_);
  EXPECT_FALSE(supervisor.supervise(milliseconds(1)));
  std::raise(SIGTERM);  // to this thread: others of this program do not block it
  EXPECT_TRUE(supervisor.supervise(milliseconds(5000)));
}

TEST(RestartDelay, DoublesUpToThirtySeconds) {
  EXPECT_EQ(restart_delay(0), milliseconds(200));
  EXPECT_EQ(restart_delay(1), milliseconds(400));
  EXPECT_EQ(restart_delay(5), milliseconds(6400));
  EXPECT_EQ(restart_delay(100), std::chrono::seconds(30));
}

}  // namespace
}  // namespace enginery
