#include "coordinator/server/log_store.h"

#include <gtest/gtest.h>

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
  logs.route(1, "j2", "tune");
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "a\nb\n"), 4u);
  EXPECT_EQ(read_all(logs, "j1", 5), "[tune] a\n[tune] b\n");
  EXPECT_EQ(read_all(logs, "j2", 100), "[tune] a\n[tune] b\n");
}

TEST(LogStore, RepetitionsAddNothingAndGapsAreRefused) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  logs.route(1, "j1", "s");
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
    ASSERT_TRUE(logs.append({"j1", 1, 1}, 0, "one\n").ok());
  }
  LogStore logs(folder.path);
  logs.open_job("j1");
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n");
  logs.route(1, "j1", "s");
  EXPECT_EQ(*logs.append({"j1", 1, 1}, 0, "one\ntwo\n"), 8u);
  EXPECT_EQ(read_all(logs, "j1", 100), "[s] one\n[s] two\n");
}

TEST(LogStore, KeepsHeadAndTailOfAHugeLog) {
  const TemporaryFolder folder;
  LogStore logs(folder.path, 100);
  logs.route(1, "j1", "s");
  uint64_t offset = 0;
  for (int i = 0; i < 120; ++i)
    offset = *logs.append({"j1", 1, 1}, offset, "line " + std::to_string(i) + "\n");
  const std::string text = read_all(logs, "j1", 300);
  EXPECT_LT(text.size(), 600u);
  EXPECT_EQ(text.substr(0, 11), "[s] line 0\n");
  EXPECT_NE(text.find("line 119\n"), std::string::npos);
  EXPECT_EQ(text.find("line 60\n"), std::string::npos);
}

TEST(LogStore, KnowsOnlyItsJobs) {
  const TemporaryFolder folder;
  LogStore logs(folder.path);
  EXPECT_EQ(logs.read("../../etc/passwd", 0, 10).error().code, ErrorCode::not_found);
  EXPECT_EQ(logs.append({"j1", 5, 1}, 0, "x").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace enginery
