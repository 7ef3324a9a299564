// The verbs that talk to a coordinator, against a real one in this process: no worker, so a job
// stays queued until it is cancelled.
#include <nlohmann/json.hpp>

#include "coordinator/server/server.h"
#include "tests/cli/verbs/example_engine.h"
#include "worker/engine_check.h"

namespace enginery {
namespace {

class FarmVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    home_ = std::make_unique<TemporaryHome>();
    CoordinatorOptions options;
    options.data = data_folder();
    options.check_engine = check_engine;
    auto started = Coordinator::start(options);
    ASSERT_TRUE(started.ok()) << started.error().message;
    coordinator_ = std::move(*started);
  }
  static void TearDownTestSuite() {
    coordinator_.reset();
    home_.reset();
  }

  // A job for a device that no worker offers; its id.
  static std::string queued_job(const std::string& name) {
    const Printed job = ask({"submit", kExampleModel, "--target", "p4", "--name", name, "--level",
                             "2", "--threads", "1", "--wait-for-workers", "--tag", "prod"});
    EXPECT_EQ(job.code, ExitCode::ok) << job.err;
    EXPECT_NE(job.err.find("follow it with: enginery wait"), std::string::npos) << job.err;
    return job.out.substr(0, job.out.find('\n'));
  }

  static std::unique_ptr<TemporaryHome> home_;
  static std::unique_ptr<Coordinator> coordinator_;
};

std::unique_ptr<TemporaryHome> FarmVerbs::home_;
std::unique_ptr<Coordinator> FarmVerbs::coordinator_;

TEST_F(FarmVerbs, ADryRunSaysWhatWouldBeBuiltAndLeavesNoJob) {
  const Printed dry = ask({"submit", kExampleModel, "--target", "p4", "--name", "dry", "--dry-run",
                           "--wait-for-workers", "--json"});
  ASSERT_EQ(dry.code, ExitCode::ok) << dry.err;
  EXPECT_TRUE(dry.json()["job"].is_null());
  EXPECT_EQ(dry.json()["targets"][0]["sku"], "p4");
  const Json listed = ask({"jobs", "--json"}).json();
  for (const Json& job : listed["jobs"]) EXPECT_NE(job["model"], "dry");
}

TEST_F(FarmVerbs, ATargetThatNoWorkerOffersIsRefusedUnlessItMayWait) {
  const Printed refused = ask({"submit", kExampleModel, "--target", "p4"});
  EXPECT_EQ(refused.code, ExitCode::usage);
  EXPECT_NE(refused.err.find("--wait-for-workers"), std::string::npos) << refused.err;
}

TEST_F(FarmVerbs, AJobIsListedShownAndExplained) {
  const std::string id = queued_job("listed");
  const Json jobs = ask({"jobs", "--json"}).json();
  EXPECT_EQ(jobs["schema"], "enginery.jobs/1");
  EXPECT_EQ(jobs["jobs"][0]["id"], id) << "newest first";
  EXPECT_EQ(jobs["jobs"][0]["total"], 1);
  EXPECT_NE(ask({"jobs", "--ids"}).out.find(id + "\n"), std::string::npos);
  EXPECT_NE(ask({"jobs"}).out.find(id), std::string::npos);

  const Json shown = ask({"show", id, "--json"}).json();
  EXPECT_EQ(shown["schema"], "enginery.job/1");
  EXPECT_EQ(shown["model"]["name"], "listed");
  EXPECT_EQ(shown["tags"], Json::array({"prod"}));
  EXPECT_TRUE(shown.contains("steps"));
  EXPECT_NE(ask({"show", id}).out.find("p4"), std::string::npos);

  const Printed explained = ask({"explain", id, "--json"});
  ASSERT_EQ(explained.code, ExitCode::ok) << explained.err;
  EXPECT_EQ(explained.json()["targets"][0]["sku"], "p4");
  EXPECT_FALSE(ask({"explain", id}).out.empty());
}

TEST_F(FarmVerbs, WaitTimesOutAndTheJobGoesOnUntilItIsCancelled) {
  const std::string id = queued_job("waited");
  const Printed timed = ask({"wait", id, "--timeout", "1"});
  EXPECT_EQ(timed.code, ExitCode::timed_out);
  EXPECT_NE(timed.err.find("enginery wait " + id), std::string::npos) << timed.err;
  EXPECT_EQ(ask({"retry", id}).code, ExitCode::usage) << "it has not ended";

  const Printed cancelled = ask({"cancel", id, "--json"});
  ASSERT_EQ(cancelled.code, ExitCode::ok) << cancelled.err;
  EXPECT_EQ(cancelled.json()["state"], "cancelled");
  const Printed ended = ask({"wait", id});
  EXPECT_EQ(ended.code, ExitCode::timed_out);
  EXPECT_NE(ended.err.find("1 cancelled"), std::string::npos) << ended.err;
  EXPECT_EQ(ask({"logs", id}).code, ExitCode::ok);
}

TEST_F(FarmVerbs, RetrySubmitsTheUnfinishedTargetsAgain) {
  const std::string id = queued_job("again");
  ASSERT_EQ(ask({"cancel", id}).code, ExitCode::ok);
  const Printed again = ask({"retry", id, "--json"});
  ASSERT_EQ(again.code, ExitCode::ok) << again.err;
  EXPECT_NE(again.json()["job"], id);
  EXPECT_EQ(again.json()["model"]["name"], "again");
  EXPECT_EQ(again.json()["targets"][0]["sku"], "p4");
  EXPECT_EQ(again.json()["tags"], Json::array({"prod"}));
}

TEST_F(FarmVerbs, WhyMissOfAJobNamesItsKey) {
  const std::string id = queued_job("missed");
  const Printed miss =
      ask({"why-miss", id, "--coordinator", coordinator_->control_address(), "--json"});
  ASSERT_EQ(miss.code, ExitCode::ok) << miss.err;
  EXPECT_EQ(miss.json()["schema"], "enginery.why-miss/1");
  EXPECT_EQ(miss.json()["present"], false);
}

TEST_F(FarmVerbs, WhyMissOfAnUnknownJobSaysWhereJobsAndKeysAreListed) {
  const std::string address = coordinator_->control_address();
  for (const char* subject : {"j99", "deadbeef00"})
    expect_refused({{"why-miss", subject, "--coordinator", address},
                    ExitCode::not_found,
                    "'" + std::string(subject) +
                        "' is no job and no key that the catalog has "
                        "(enginery jobs lists the jobs, enginery catalog ls --json the keys)"});
}

TEST_F(FarmVerbs, TheFleetIsThisMachineWithoutWorkers) {
  const Json skus = ask({"skus", "--json"}).json();
  ASSERT_FALSE(skus["skus"].empty());
  EXPECT_EQ(skus["skus"][0]["this"], true);
  EXPECT_EQ(skus["skus"][0]["workers"], 0);
  EXPECT_TRUE(ask({"workers", "--json"}).json()["workers"].empty());
  EXPECT_NE(ask({"workers"}).err.find("enginery worker --sku"), std::string::npos);
  EXPECT_NE(ask({"skus", "--all", "--names"}).out.find("h200\n"), std::string::npos);
}

TEST_F(FarmVerbs, WhatIsNotThereIsNotFound) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"show", "j-none"},
                                             {"wait", "j-none"},
                                             {"cancel", "j-none"},
                                             {"retry", "j-none"},
                                             {"explain", "j-none"},
                                             {"logs", "j-none"},
                                             {"drain", "w-none"},
                                             {"undrain", "w-none"},
                                             {"workers", "--forget", "w-none"},
                                             {"fetch", "nothing"}})
    EXPECT_EQ(ask(words).code, ExitCode::not_found) << words[0];
}

}  // namespace
}  // namespace enginery
