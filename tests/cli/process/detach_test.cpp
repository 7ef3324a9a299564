#include "cli/process/detach.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

void write_to(int descriptor, const std::string& text) {
  if (write(descriptor, text.data(), text.size()) < 0) _exit(9);
}

TEST(Detached, TheParentReturnsWhatTheChildPrintedOnceItIsReady) {
  const TemporaryHome home;
  const std::filesystem::path log = home.path() / "up.log";
  auto detached = Detached::start(log);
  ASSERT_TRUE(detached.ok());
  if (!detached->is_parent()) {
    write_to(STDOUT_FILENO, "worker pid " + std::to_string(getpid()) + "\nready\n");
    if (!Detached::let_go_of_parent(log).ok()) _exit(8);
    write_to(STDOUT_FILENO, "later\n");
    for (;;) pause();
  }
  const DetachedStart start = detached->wait();
  EXPECT_TRUE(start.ready);
  EXPECT_TRUE(start.output.ends_with("ready\n")) << start.output;
  EXPECT_EQ(start.output.find("later"), std::string::npos);
  const int pid = std::stoi(start.output.substr(std::string("worker pid ").size()));
  EXPECT_EQ(kill(pid, SIGKILL), 0);
}

TEST(Detached, AChildThatFailsLeavesItsExitCodeAndTheEndOfItsLog) {
  const TemporaryHome home;
  const std::filesystem::path log = home.path() / "up.log";
  ASSERT_TRUE(write_file(log, "of the run before").ok());
  auto detached = Detached::start(log);
  ASSERT_TRUE(detached.ok());
  if (!detached->is_parent()) {
    write_to(STDERR_FILENO, "it broke\n");
    _exit(3);
  }
  const DetachedStart start = detached->wait();
  EXPECT_FALSE(start.ready);
  EXPECT_EQ(start.exit_code, 3);
  EXPECT_EQ(start.log_tail, "it broke\n");
  EXPECT_EQ(*read_file(log.string() + ".old"), "of the run before");
}

}  // namespace
}  // namespace enginery
