#include "coordinator/core/jobs.h"

#include <gtest/gtest.h>

#include "coordinator/core/submit_check.h"
#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::seconds;

const std::map<std::string, SeenSku> kSkus = {{"x", {"x", "cpu", "tool 1", 0}}};

Status checked(const std::function<void(SubmitRequest&)>& change,
               const std::vector<Digest>& missing = {}) {
  SubmitRequest request = make_submit("m", {"x"});
  change(request);
  return check_submit(request, missing, kSkus);
}

ErrorCode refused(const std::function<void(SubmitRequest&)>& change) {
  const Status status = checked(change);
  EXPECT_FALSE(status.ok());
  return status.ok() ? ErrorCode::internal : status.error().code;
}

TEST(CheckSubmit, TakesAPlainRequest) {
  EXPECT_TRUE(checked([](SubmitRequest&) {}).ok());
}

TEST(CheckSubmit, RefusesWhatWouldAbortOrGrowWithoutBound) {
  EXPECT_EQ(refused([](SubmitRequest& r) { r.name = "a/b"; }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.priority = 1001; }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.tags = {"two words"}; }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.targets[0].tune_key.clear(); }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.options.assign(300 * 1024, ' '); }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.targets.assign(257, r.targets[0]); }),
            ErrorCode::usage);
}

TEST(CheckSubmit, RefusesASkuThatNoWorkerHasOffered) {
  EXPECT_EQ(refused([](SubmitRequest& r) { r.targets[0].sku = "y"; }), ErrorCode::usage);
  EXPECT_EQ(refused([](SubmitRequest& r) { r.targets[0].toolchain = "tool 2"; }), ErrorCode::usage);
  const auto waiting = [](SubmitRequest& r) {
    r.targets[0].sku = "y";
    r.wait_for_workers = true;
  };
  EXPECT_TRUE(checked(waiting).ok());
}

TEST(CheckSubmit, NamesTheBlobThatIsMissing) {
  const Status status = checked([](SubmitRequest&) {}, {sha256("gone")});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_NE(status.error().message.find(sha256("gone").text()), std::string::npos);
}

// Jobs over its targets and a queue without workers; nobody answers the lookups.
struct JobsTest : testing::Test {
  CoreOptions options;
  Polls polls;
  Queue queue{options};
  Targets targets{queue, options};
  Jobs jobs{queue, targets, polls, options};
  Now now{seconds(1), seconds(1)};

  // The replies of an event, after which every rule holds.
  template <typename Event>
  std::vector<Reply> replies(Event event) {
    Effects effects;
    Turn turn(now, effects);
    event(turn);
    EXPECT_EQ(jobs.check(now), "");
    EXPECT_EQ(polls.check(), "");
    return effects.replies;
  }
  std::vector<Reply> submit(uint64_t id) {
    SubmitRequest submit = make_submit("m", {"x"});
    submit.wait_for_workers = true;
    Request request{{"client", {0, id}}, "client", submit, {}};
    return replies([&](Turn& turn) { jobs.submit(request, turn); });
  }
  std::vector<Reply> wait(const WaitJob& wait) {
    return replies([&](Turn& turn) {
      jobs.wait({{"waiting", {0, 9}}, "client", wait, {}}, wait, turn);
    });
  }
};

TEST_F(JobsTest, ASubmitIsAnsweredOnceTheCatalogHasSpoken) {
  EXPECT_TRUE(submit(1).empty());
  const LiveJob* job = jobs.find("j1");
  ASSERT_NE(job, nullptr);
  EXPECT_TRUE(job->submit_reply);
  const Digest key = targets.target({1, 0}).keys.engine;
  const std::vector<Reply> answered = replies([&](Turn& turn) {
    targets.looked_up({{1, 0, StepKind::sign, 0}, key, std::nullopt, 1}, turn);
    jobs.answer_submit(1, turn);
  });
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(answered[0].to.route, "client");
}

TEST_F(JobsTest, ARepeatedSubmitIsTheSameJob) {
  submit(1);
  submit(1);
  submit(2);
  EXPECT_EQ(jobs.ids_of(false), (std::vector<std::string>{"j1", "j2"}));
}

TEST_F(JobsTest, ATouchedJobAnswersThoseWhoWaitForAChange) {
  submit(1);
  const uint64_t revision = jobs.find("j1")->revision;
  EXPECT_TRUE(wait({"j1", revision, 5000, false}).empty());
  const std::vector<Reply> answered = replies([&](Turn& turn) { jobs.touch(1, turn); });
  ASSERT_EQ(answered.size(), 1u);
  EXPECT_EQ(answered[0].to.route, "waiting");
  EXPECT_EQ(jobs.find("j1")->revision, revision + 1);
}

TEST_F(JobsTest, AWaitForAKnownRevisionIsHeldAndForAnotherIsNot) {
  submit(1);
  const uint64_t revision = jobs.find("j1")->revision;
  EXPECT_EQ(wait({"j1", revision + 1, 5000, false}).size(), 1u);
  EXPECT_EQ(wait({"j1", revision, 0, false}).size(), 1u);
  EXPECT_TRUE(wait({"j1", revision, 5000, false}).empty());
}

TEST_F(JobsTest, AnEndedTargetEndsItsJob) {
  submit(1);
  EXPECT_TRUE(wait({"j1", 0, 5000, true}).empty());
  const std::vector<Reply> answered = replies([&](Turn& turn) {
    targets.cancel({1, 0}, turn);
    jobs.update(1, turn);
  });
  EXPECT_EQ(answered.size(), 2u);  // the submit and the wait
  EXPECT_EQ(jobs.find("j1")->state, JobState::cancelled);
  EXPECT_EQ(jobs.ids_of(true), std::vector<std::string>{"j1"});
}

TEST_F(JobsTest, NamesThatAreNoJobsAreNotFound) {
  submit(1);
  EXPECT_EQ(jobs.find("j2"), nullptr);
  EXPECT_EQ(jobs.find("1"), nullptr);
  EXPECT_EQ(jobs.find("j1x"), nullptr);
}

}  // namespace
}  // namespace enginery
