#include "worker/agent/self_test.h"

#include <gtest/gtest.h>

#include <atomic>

#include "engine/base/file.h"
#include "tests/support/temporary_folder.h"
#include "tests/worker/runner/shell_runner.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;

// What the self-test says with this script in the runner's place.
std::string problem_with(const std::string& script, const std::filesystem::path& data,
                         std::chrono::seconds limit = std::chrono::seconds(300)) {
  std::atomic<bool> ended = false;
  const SelfTest test(7, {test::shell_command(script), "cpu-sse41", 0, data, limit},
                      [&] { ended = true; });
  EXPECT_EQ(test.number(), 7u);
  for (int i = 0; i < 10'000 && !ended; ++i) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(test.problem()) << "it does not end";
  return test.problem().value_or("none");
}

TEST(SelfTest, PassesWhereDiskAndDeviceAreWell) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(problem_with("read request; " + std::string(test::kSucceed), folder.path / "w"), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path / "w")) << "it leaves nothing behind";
}

TEST(SelfTest, SaysWhatTheRunnerFound) {
  const test::TemporaryFolder folder;
  EXPECT_NE(problem_with("kill -SEGV $$", folder.path).find("signal 11"), std::string::npos);
}

TEST(SelfTest, SaysWhatIsWrongWithTheDisk) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path / "file", "in the folder's place").ok());
  EXPECT_NE(problem_with(test::kSucceed, folder.path / "file"), "");
}

TEST(SelfTest, SaysThatTheDeviceHangs) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(problem_with("exec sleep 60", folder.path, std::chrono::seconds(1)),
            "the self-test did not end within 1 s");
}

TEST(SelfTest, IsGivenUpWithTheWorker) {
  const test::TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  {
    const SelfTest test(
        1, {test::shell_command("exec sleep 60"), "x", 0, folder.path, std::chrono::seconds(60)},
        [] {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace enginery
