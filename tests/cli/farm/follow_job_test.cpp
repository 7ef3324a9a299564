#include "cli/farm/follow_job.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/cli/fake_console.h"
#include "tests/support/fake_coordinator.h"

namespace enginery {
namespace {

JobView job_in(JobState state, TargetState target_state, uint64_t revision) {
  JobView job;
  job.id = "j-1";
  job.state = state;
  job.revision = revision;
  TargetView target;
  target.sku = "p4";
  target.state = target_state;
  job.targets.push_back(target);
  return job;
}

const JobView kQueued = job_in(JobState::queued, TargetState::queued, 1);

TEST(FollowJob, AsksForChangesUntilTheJobHasEnded) {
  std::vector<uint64_t> known;
  const auto client = client_of([&](const Body& request) -> Body {
    const auto& wait = std::get<WaitJob>(request);
    EXPECT_EQ(wait.job, "j-1");
    known.push_back(wait.known_revision);
    if (wait.known_revision == 1)
      return JobReply{job_in(JobState::running, TargetState::running, 2)};
    return JobReply{job_in(JobState::failed, TargetState::failed, 3)};
  });
  FakeConsole fake;
  const auto code = follow_and_report(*client, kQueued, {}, OutputForm::text, fake.console());
  ASSERT_TRUE(code.ok()) << code.error().message;
  EXPECT_EQ(*code, ExitCode::failed);
  EXPECT_EQ(known, (std::vector<uint64_t>{1, 2}));
  EXPECT_NE(fake.err().find("p4: queued"), std::string::npos) << fake.err();
  EXPECT_NE(fake.err().find("enginery logs j-1"), std::string::npos) << fake.err();
  EXPECT_TRUE(fake.out().starts_with("SKU")) << fake.out();
}

TEST(FollowJob, AnEndedJobIsReportedWithoutAQuestion) {
  const auto client = client_of([](const Body&) -> Body {
    ADD_FAILURE() << "asked";
    return Done{};
  });
  FakeConsole fake;
  const auto ended =
      follow_job(*client, job_in(JobState::done, TargetState::done, 5), {}, fake.console());
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->revision, 5u);
}

TEST(FollowJob, AfterTheTimeOutTheJobGoesOnAndTheMessageSaysHowToAttach) {
  const auto client = client_of([](const Body&) -> Body { return JobReply{kQueued}; });
  FakeConsole fake;
  FollowOptions options;
  options.timeout = std::chrono::seconds(0);
  const auto ended = follow_job(*client, kQueued, options, fake.console());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::timed_out);
  EXPECT_NE(ended.error().message.find("enginery wait j-1"), std::string::npos);
  EXPECT_NE(ended.error().message.find("enginery cancel j-1"), std::string::npos);
}

TEST(FollowJob, CtrlCDetachesAndLeavesTheJobAlone) {
  const auto client = client_of([](const Body& request) -> Body {
    EXPECT_TRUE(std::holds_alternative<WaitJob>(request)) << "nothing is cancelled";
    std::raise(SIGINT);
    return JobReply{kQueued};
  });
  FakeConsole fake;
  const auto ended = follow_job(*client, kQueued, {}, fake.console());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::cancelled);
  EXPECT_NE(ended.error().message.find("enginery wait j-1"), std::string::npos);
}

TEST(FollowJob, AnErrorOfTheCoordinatorEndsIt) {
  const auto client = client_of([](const Body&) -> Body {
    return ErrorReply{{ErrorCode::not_found, "no such job"}};
  });
  FakeConsole fake;
  const auto ended = follow_job(*client, kQueued, {}, fake.console());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::not_found);
}

TEST(FollowJob, ACoordinatorWhoseDiskIsFullIsWaitedForAndSaysSo) {
  int asked = 0;
  const auto client = client_of([&](const Body&) -> Body {
    if (++asked < 4) return ErrorReply{{ErrorCode::storage, "queue: the disk is full"}};
    return JobReply{job_in(JobState::done, TargetState::done, 2)};
  });
  FakeConsole fake;
  ASSERT_TRUE(follow_job(*client, kQueued, {}, fake.console()).ok());
  EXPECT_NE(fake.err().find("the disk is full; waiting for it"), std::string::npos) << fake.err();
}

TEST(FollowJob, AnAbsentCoordinatorIsWaitedForWithOneMessage) {
  int asked = 0;
  const auto client = client_of([&](const Body&) -> Body {
    if (++asked < 4) return ErrorReply{{ErrorCode::unavailable, "away"}};
    return JobReply{job_in(JobState::done, TargetState::done, 2)};
  });
  FakeConsole fake;
  ASSERT_TRUE(follow_job(*client, kQueued, {}, fake.console()).ok());
  const std::string message = "the coordinator does not answer";
  const size_t first = fake.err().find(message);
  ASSERT_NE(first, std::string::npos) << fake.err();
  EXPECT_EQ(fake.err().find(message, first + 1), std::string::npos) << fake.err();
}

}  // namespace
}  // namespace enginery
