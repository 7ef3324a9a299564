#include "coordinator/core/jobs.h"

#include <gtest/gtest.h>

#include "tests/coordinator/farm_fixture.h"

namespace enginery {
namespace {

using std::chrono::seconds;

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
  const KeyDigests keys = targets.target({1, 0}).keys;
  const auto looked_up = [&](StepKind kind, const Digest& key) {
    return replies([&](Turn& turn) {
      targets.looked_up({{1, 0, kind, 0}, key, std::nullopt, 1}, turn);
      jobs.answer_submit(1, turn);
    });
  };
  EXPECT_TRUE(looked_up(StepKind::sign, keys.engine).empty()) << "the first step is looked up";
  const std::vector<Reply> answered =
      looked_up(StepKind::validate, step_key_digest(step_of(StepKind::validate), keys, {}));
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

// Submits and cancels; the time passes.
struct ForgettingTest : JobsTest {
  void end(uint64_t id) {
    submit(id);
    replies([&](Turn& turn) {
      targets.cancel({id, 0}, turn);
      jobs.update(id, turn);
    });
    now.wall += seconds(1);
  }
  std::vector<RowChange> forgotten() {
    Effects effects;
    Turn turn(now, effects);
    jobs.forget_old(turn);
    EXPECT_EQ(effects.forgotten_jobs.size(), effects.rows.size());
    return effects.rows;
  }
};

TEST_F(ForgettingTest, OfManyEndedJobsTheNewestAreRemembered) {
  options.ended_jobs_kept = 2;
  for (uint64_t id : {1, 2, 3}) end(id);
  submit(4);  // goes on
  const std::vector<RowChange> rows = forgotten();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(std::get<ForgetJob>(rows[0]).number, 1u);
  EXPECT_EQ(jobs.ids_of(true), (std::vector<std::string>{"j2", "j3"}));
  EXPECT_EQ(jobs.ids_of(false), std::vector<std::string>{"j4"});
  EXPECT_TRUE(forgotten().empty());
}

TEST_F(ForgettingTest, OldOnesGoAndTheNewestNumberStays) {
  options.ended_jobs_age = std::chrono::hours(1);
  for (uint64_t id : {1, 2, 3}) end(id);
  now.wall += std::chrono::hours(2);
  EXPECT_EQ(forgotten().size(), 2u);
  EXPECT_EQ(jobs.ids_of(true), std::vector<std::string>{"j3"});
  EXPECT_TRUE(submit(1).empty()) << "a request that is not remembered makes a new job";
  EXPECT_NE(jobs.find("j4"), nullptr);
}

TEST_F(ForgettingTest, AJobStaysWhileAStepOfItGoesOn) {
  options.ended_jobs_kept = 1;
  submit(1);
  replies([&](Turn& turn) {
    const Digest key = targets.target({1, 0}).keys.engine;
    targets.looked_up({{1, 0, StepKind::sign, 0}, key, std::nullopt, 1}, turn);
    const Lookup next = turn.out.lookups.back();
    targets.looked_up({next.token, next.key, std::nullopt, 1}, turn);
    ASSERT_NE(targets.target({1, 0}).step, 0u);
    targets.cancel({1, 0}, turn);  // others have joined the step
    jobs.update(1, turn);
  });
  for (uint64_t id : {2, 3}) end(id);
  EXPECT_EQ(forgotten().size(), 1u);
  EXPECT_EQ(jobs.ids_of(true), (std::vector<std::string>{"j1", "j3"}));
}

TEST_F(JobsTest, NamesThatAreNoJobsAreNotFound) {
  submit(1);
  EXPECT_EQ(jobs.find("j2"), nullptr);
  EXPECT_EQ(jobs.find("1"), nullptr);
  EXPECT_EQ(jobs.find("j1x"), nullptr);
}

TEST_F(JobsTest, ANameIsTheNumberBehindAJ) {
  EXPECT_EQ(job_id(17), "j17");
  EXPECT_EQ(job_number("j17"), 17u);
  EXPECT_EQ(job_number("j18446744073709551615"), UINT64_MAX);
  for (const char* name :
       {"", "j", "17", "J17", "j-1", "j+1", "j 1", "j1 ", "j1.0", "jj1", "j18446744073709551616"})
    EXPECT_FALSE(job_number(name)) << name;
}

// What a job's state is when its targets have these.
struct Outcomes {
  std::vector<TargetState> targets;
  JobState job;
};

TEST_F(JobsTest, AJobsStateFollowsFromItsTargets) {
  using T = TargetState;
  const Outcomes table[] = {
      {{T::queued, T::queued}, JobState::queued},
      {{T::running, T::queued}, JobState::running},
      {{T::done, T::queued}, JobState::running},
      {{T::cancelled, T::queued}, JobState::running},
      {{T::done, T::done}, JobState::done},
      {{T::done, T::failed}, JobState::failed},
      {{T::failed, T::cancelled}, JobState::cancelled},
      {{T::done, T::cancelled}, JobState::cancelled},
  };
  uint64_t number = 0;
  for (const Outcomes& wanted : table) {
    JobRow row;
    row.number = ++number;
    row.request_id = {1, number};
    row.state = JobState::running;
    row.request = make_submit("m", {"x", "y"});
    for (const TargetState state : wanted.targets) row.targets.push_back({state});
    // Loaded as it is; the update works the state out.
    jobs.load({{number, row}});
    Effects effects;
    Turn turn(now, effects);
    jobs.update(number, turn);
    EXPECT_EQ(jobs.find(job_id(number))->state, wanted.job) << number;
    EXPECT_EQ(effects.ended_jobs.size(), is_end(wanted.job) ? 1u : 0u) << number;
  }
}

TEST_F(JobsTest, NumbersGoOnBehindTheStoredOnesAndKnownRequestsAreNotNew) {
  JobRow row;
  row.number = 41;
  row.request_id = {0, 7};
  row.state = JobState::done;
  row.request = make_submit("m", {"x"});
  row.targets.resize(1);
  row.targets[0].state = TargetState::done;
  jobs.load({{41, row}});
  const std::vector<Reply> known = submit(7);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(std::get<JobReply>(known[0].body).job.id, "j41");
  submit(8);
  EXPECT_NE(jobs.find("j42"), nullptr);
}

TEST_F(JobsTest, ARepeatedSubmitTakesTheAnswerWithIt) {
  submit(1);
  SubmitRequest again = make_submit("m", {"x"});
  again.wait_for_workers = true;
  Request request{{"another route", {0, 1}}, "client", again, {}};
  EXPECT_TRUE(replies([&](Turn& turn) { jobs.submit(request, turn); }).empty());
  const std::vector<Reply> answered = replies([&](Turn& turn) {
    targets.cancel({1, 0}, turn);
    jobs.update(1, turn);
  });
  ASSERT_EQ(answered.size(), 1u);  // one answer, where the client is now
  EXPECT_EQ(answered[0].to.route, "another route");
}

TEST_F(JobsTest, AJobWithoutAClientsNameCountsForWhoeverSaidHello) {
  submit(1);
  EXPECT_EQ(jobs.view(*jobs.find("j1"), Jobs::Detail::targets, now).client, "client");
}

TEST_F(JobsTest, AWaitIsHeldForHalfAMinuteAtMost) {
  submit(1);
  const uint64_t revision = jobs.find("j1")->revision;
  EXPECT_TRUE(wait({"j1", revision, UINT32_MAX, false}).empty());
  EXPECT_EQ(polls.next_timer(), now.monotonic + seconds(30));
  now.monotonic += seconds(29);
  EXPECT_TRUE(replies([&](Turn& turn) { jobs.end_polls(1, turn); }).empty());
  now.monotonic += seconds(1);
  EXPECT_EQ(replies([&](Turn& turn) { jobs.end_polls(1, turn); }).size(), 1u);
}

TEST_F(JobsTest, TheTimerOfAJobThatIsNotThereMeansNothing) {
  EXPECT_TRUE(replies([&](Turn& turn) { jobs.end_polls(99, turn); }).empty());
}

TEST_F(JobsTest, AWaitForTheEndIsNotAnsweredByAChange) {
  submit(1);
  EXPECT_TRUE(wait({"j1", 0, 5000, true}).empty());  // though the revision is another one
  EXPECT_TRUE(replies([&](Turn& turn) { jobs.touch(1, turn); }).empty());
}

TEST_F(JobsTest, AWaitForAnUnknownJobIsRefusedWithAShortSentence) {
  const std::vector<Reply> answered = wait({std::string(100'000, 'j'), 0, 5000, false});
  ASSERT_EQ(answered.size(), 1u);
  const Fault& fault = std::get<ErrorReply>(answered[0].body).fault;
  EXPECT_EQ(fault.code, ErrorCode::not_found);
  EXPECT_LT(fault.message.size(), 200u);
}

// --- the list

TEST_F(JobsTest, ListsTheNewestFirstInPages) {
  for (uint64_t id = 1; id <= 5; ++id) submit(id);
  const auto ids = [&](const ListJobs& request) {
    std::vector<std::string> out;
    for (const JobLine& line : jobs.list(request).jobs) out.push_back(line.id);
    return out;
  };
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids({2, ""}), (Ids{"j5", "j4"}));
  EXPECT_EQ(ids({2, "j4"}), (Ids{"j3", "j2"}));
  EXPECT_EQ(ids({2, "j1"}), Ids{});
  EXPECT_EQ(ids({0, ""}).size(), 5u);  // no limit of its own: the usual page
}

TEST_F(JobsTest, AClientsOpenJobsAreLimitedAndTheRefusalNamesIt) {
  options.max_open_jobs = 2;
  submit(1);
  submit(2);
  const std::vector<Reply> refused = submit(3);
  ASSERT_EQ(refused.size(), 1u);
  const auto* error = std::get_if<ErrorReply>(&refused[0].body);
  ASSERT_NE(error, nullptr);
  for (const char* part : {"'client' has 2 jobs", "may have 2", "--client-jobs"})
    EXPECT_NE(error->fault.message.find(part), std::string::npos) << error->fault.message;
  EXPECT_EQ(jobs.find("j3"), nullptr);
  EXPECT_TRUE(submit(1).empty()) << "a repetition is no new job";
  replies([&](Turn& turn) {
    targets.cancel({1, 0}, turn);
    jobs.update(1, turn);
  });
  EXPECT_TRUE(submit(4).empty());
  EXPECT_NE(jobs.find("j3"), nullptr);
}

TEST_F(JobsTest, AListedJobCountsItsEndedTargets) {
  submit(1);
  EXPECT_EQ(jobs.list({}).jobs.at(0).done, 0u);
  EXPECT_EQ(jobs.list({}).jobs.at(0).total, 1u);
  replies([&](Turn& turn) {
    targets.cancel({1, 0}, turn);
    jobs.update(1, turn);
  });
  EXPECT_EQ(jobs.list({}).jobs.at(0).done, 1u);
  EXPECT_EQ(jobs.list({}).jobs.at(0).state, JobState::cancelled);
}

TEST_F(JobsTest, AListHasTwoThousandLinesAtMost) {
  std::map<uint64_t, JobRow> rows;
  for (uint64_t number = 1; number <= 2001; ++number) {
    rows[number].request_id = {0, number};
    rows[number].request = make_submit("m", {"x"});
  }
  jobs.load(std::move(rows));
  EXPECT_EQ(jobs.list({}).jobs.size(), 1000u);
  EXPECT_EQ(jobs.list({UINT32_MAX, ""}).jobs.size(), 2000u);
}

}  // namespace
}  // namespace enginery
