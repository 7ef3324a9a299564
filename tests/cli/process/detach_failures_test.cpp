// A background process that does not get ready: what its parent learns, and how fast.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "cli/process/detach.h"
#include "engine/base/file.h"
#include "tests/cli/temporary_home.h"

namespace enginery {
namespace {

void say(int descriptor, const std::string& text) {
  if (write(descriptor, text.data(), text.size()) < 0) _exit(9);
}

// Runs `child` in a detached process; what the parent sees of it.
DetachedStart started(const std::filesystem::path& log, const std::function<void()>& child) {
  auto detached = Detached::start(log);
  EXPECT_TRUE(detached.ok());
  if (!detached->is_parent()) {
    child();
    _exit(0);
  }
  return detached->wait();
}

TEST(DetachedFailure, AnEndWithoutReadyIsAFailureEvenWithExitCodeZero) {
  const TemporaryHome home;
  const DetachedStart start =
      started(home.path() / "up.log", [] { say(STDOUT_FILENO, "pid 1\n"); });
  EXPECT_FALSE(start.ready);
  EXPECT_EQ(start.exit_code, 1);
  EXPECT_EQ(start.output, "pid 1\n");
}

TEST(DetachedFailure, ADeathBySignalIsExitCodeOneWithTheEndOfTheLog) {
  const TemporaryHome home;
  const DetachedStart start = started(home.path() / "up.log", [] {
    say(STDERR_FILENO, "about to die\n");
    std::raise(SIGKILL);
  });
  EXPECT_FALSE(start.ready);
  EXPECT_EQ(start.exit_code, 1);
  EXPECT_EQ(start.log_tail, "about to die\n");
}

TEST(DetachedFailure, OnlyTheLast2000BytesOfTheLogAreShown) {
  const TemporaryHome home;
  const DetachedStart start = started(home.path() / "logs/up.log", [] {
    say(STDERR_FILENO, std::string(5000, 'a') + "the end\n");
    _exit(10);
  });
  EXPECT_EQ(start.exit_code, 10);
  EXPECT_EQ(start.log_tail.size(), 2000u);
  EXPECT_TRUE(start.log_tail.ends_with("aaathe end\n"));
}

TEST(DetachedFailure, ALogThatCannotBeMadeIsStorageAndNoProcess) {
  const TemporaryHome home;
  ASSERT_TRUE(write_file(home.file("in-the-way"), "").ok());
  const auto detached = Detached::start(home.path() / "in-the-way/up.log");
  ASSERT_FALSE(detached.ok());
  EXPECT_EQ(detached.error().code, ErrorCode::storage);
  EXPECT_NE(detached.error().message.find("in-the-way"), std::string::npos);
}

TEST(DetachedChild, HasASessionOfItsOwnAndNothingToRead) {
  const TemporaryHome home;
  const DetachedStart start = started(home.path() / "up.log", [] {
    char byte = 0;
    const bool leads = getsid(0) == getpid();
    const bool reads_nothing = read(STDIN_FILENO, &byte, 1) == 0;
    say(STDOUT_FILENO, std::string(leads ? "leads " : "") + (reads_nothing ? "reads nothing" : ""));
    _exit(3);
  });
  EXPECT_EQ(start.output, "leads reads nothing");
}

TEST(DetachedChild, GoesOnWritingToTheLogOnceItsParentIsGone) {
  const TemporaryHome home;
  const std::filesystem::path log = home.path() / "up.log";
  const DetachedStart start = started(log, [&] {
    say(STDOUT_FILENO, "ready\n");
    if (!Detached::let_go_of_parent(log).ok()) _exit(8);
    say(STDOUT_FILENO, "later on stdout\n");
    say(STDERR_FILENO, "later on stderr\n");
    sleep(20);
  });
  EXPECT_TRUE(start.ready);
  Bytes text;
  for (int i = 0; i < 500 && text.find("on stderr") == Bytes::npos; ++i) {
    usleep(10'000);
    text = *read_file(log);
  }
  EXPECT_EQ(text, "later on stdout\nlater on stderr\n") << "nothing that the parent has printed";
}

}  // namespace
}  // namespace enginery
