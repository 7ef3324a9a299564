#include "coordinator/server/log_store.h"

#include <gtest/gtest.h>

#include "engine/base/clock.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

// The whole log as a follower reads it.
std::string read_all(LogStore& logs, const std::string& job, uint32_t length) {
  std::string text;
  uint64_t offset = 0;
  while (true) {
    const Result<LogChunk> chunk = logs.read(job, offset, length);
    EXPECT_TRUE(chunk.ok());
    if (!chunk.ok() || chunk->text.empty()) return text;
    EXPECT_GE(chunk->offset, offset);
    text += chunk->text;
    offset = chunk->offset + chunk->text.size();
  }
}

TEST(LogStore, GivesEveryJobThatWaitsTheLines) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "tune");
  logs.lease(1, 1);
  logs.route(1, "j2", "tune");
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "a\nb\n"), 4u);
  EXPECT_EQ(read_all(logs, "j1", 5), "[tune] a\n[tune] b\n");
  EXPECT_EQ(read_all(logs, "j2", 100), "[tune] a\n[tune] b\n");
}

TEST(LogStore, RepetitionsAddNothingAndGapsAreRefused) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "s");
  logs.lease(1, 1);
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "one\n"), 4u);
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "one\n"), 4u);
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "one\ntwo\n"), 8u);
  EXPECT_FALSE(logs.append({"j1", 1, 1}, 20, "late\n").ok());
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n[s] two\n");
}

TEST(LogStore, GoesOnAfterARestart) {
  const TemporaryFolder folder;
  {
    LogStore logs(folder.path);
    logs.route(1, "j1", "s");
    logs.lease(1, 1);
    ASSERT_TRUE(logs.append({"j1", 1, 1}, 0, "one\n").ok());
  }
  LogStore logs(folder.path);
  logs.open_job("j1");
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n");
  logs.route(1, "j1", "s");
  logs.lease(1, 1);
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "one\ntwo\n"), 8u);
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n[s] two\n");
}

TEST(LogStore, KeepsHeadAndTailOfAHugeLog) {
  const TemporaryFolder folder;
  LogStore logs(folder.path, 100);
  logs.route(1, "j1", "s");
  logs.lease(1, 1);
  uint64_t offset = 0;
  for (int i = 0; i < 120; ++i)
    offset = *logs.append({"j1", 1, 1}, offset, "line " + std::to_string(i) + "\n");
  const std::string text = read_all(logs, "j1", 300);
  EXPECT_LT(text.size(), 600u);
  EXPECT_EQ(text.substr(0, 11), "[s] line 0\n");
  EXPECT_NE(text.find("line 119\n"), std::string::npos);
  EXPECT_EQ(text.find("line 60\n"), std::string::npos);
}

// In the job's own log, once, and in the words that the coordinator's log has, too.
TEST(LogStore, SaysWhoWroteAHugeLog) {
  const TemporaryFolder folder;
  LogStore logs(folder.path, 100);
  logs.route(1, "j1", "s");
  logs.lease(1, 1, "lab/cpu");
  logs.lease(1, 2, "other/cpu");
  EXPECT_EQ(logs.worker_of({"j1", 1, 1}), "lab/cpu");
  EXPECT_EQ(logs.worker_of({"j1", 1, 3}), "");
  ASSERT_EQ(*logs.append({"j1", 1, 2}, 0, "a word\n"), 7u);
  uint64_t offset = *logs.append({"j1", 1, 1}, 0, std::string(399, 'x'));
  EXPECT_EQ(read_all(logs, "j1", 300).find("has written more"), std::string::npos);
  offset = *logs.append({"j1", 1, 1}, offset, "y\n");
  const std::string note =
      "[s] worker 'lab/cpu' has written more than 400 bytes for this step (epoch 1)";
  EXPECT_NE(read_all(logs, "j1", 300).find(note), std::string::npos) << read_all(logs, "j1", 300);
  ASSERT_TRUE(logs.append({"j1", 1, 1}, offset, "z\n").ok());
  const std::string text = read_all(logs, "j1", 300);
  EXPECT_EQ(text.find(note), text.rfind(note)) << "said once";
}

TEST(LogStore, KnowsOnlyItsJobs) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  EXPECT_EQ(logs.read("../../etc/passwd", 0, 10).error().code, ErrorCode::not_found);
  EXPECT_EQ(logs.append({"j1", 5, 1}, 0, "x").error().code, ErrorCode::not_found);
}

size_t files_in(const std::filesystem::path& folder) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.is_regular_file();
  return count;
}

// Whoever invents leases would fill the disk with a file for each.
TEST(LogStore, OnlyAGivenLeaseMayAppend) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "s");
  logs.lease(1, 2);
  for (uint64_t epoch : {uint64_t{0}, uint64_t{3}, UINT64_MAX})
    EXPECT_EQ(logs.append({"j1", 1, epoch}, 0, "x\n").error().code, ErrorCode::not_found) << epoch;
  EXPECT_EQ(files_in(folder.path), 0u);
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "late\n"), 5u);  // the former holder's last words
  EXPECT_EQ(*logs.append({"j1", 1, 2}, 0, "new\n"), 4u);
  EXPECT_EQ(files_in(folder.path / "leases"), 2u);
}

TEST(LogStore, AnEndedStepMaySayItsLastLinesAndIsThenForgotten) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "s");
  logs.lease(1, 1);
  ASSERT_TRUE(logs.append({"j1", 1, 1}, 0, "one\n").ok());
  logs.end_step(1);
  logs.prune(SystemClock().wall_time());
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 4, "two\n"), 8u);
  logs.prune(SystemClock().wall_time());
  EXPECT_EQ(logs.append({"j1", 1, 1}, 8, "three\n").error().code, ErrorCode::not_found);
  EXPECT_EQ(files_in(folder.path / "leases"), 0u);
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n[s] two\n");  // the job's own log stays
}

TEST(LogStore, AForgottenJobsLogGoes) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "s");
  logs.lease(1, 1);
  ASSERT_TRUE(logs.append({"j1", 1, 1}, 0, "one\n").ok());
  logs.end_job("j1");
  logs.forget_job("j1");
  EXPECT_EQ(logs.read("j1", 0, 100).error().code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder.path / "j1.0"));
}

TEST(LogStore, LogsOfEndedJobsGoByAgeAndNumber) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  for (uint64_t n = 1; n <= 4; ++n) {
    const std::string job = "j" + std::to_string(n);
    logs.route(n, job, "s");
    logs.lease(n, 1);
    ASSERT_TRUE(logs.append({job, n, 1}, 0, "x\n").ok());
    if (n < 4) logs.end_job(job);
    std::filesystem::last_write_time(
        folder.path / (job + ".0"),
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(10 - n));
  }
  logs.prune(SystemClock().wall_time(), {std::chrono::hours(100), 2});
  EXPECT_EQ(read_all(logs, "j1", 100), "");  // the oldest of three
  EXPECT_EQ(read_all(logs, "j2", 100), "[s] x\n");
  logs.prune(SystemClock().wall_time(), {std::chrono::hours(5), 2});
  EXPECT_EQ(read_all(logs, "j2", 100), "");
  EXPECT_EQ(read_all(logs, "j3", 100), "");
  EXPECT_EQ(read_all(logs, "j4", 100), "[s] x\n");  // it goes on, however old its text
  EXPECT_TRUE(logs.read("j1", 0, 100)->complete);
}

}  // namespace
}  // namespace enginery
