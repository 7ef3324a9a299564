#include "worker/agent.h"

#include <gtest/gtest.h>

#include <csignal>

#include "engine/base/signed_file.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

using namespace test;
using std::chrono::milliseconds;

const StepView* step_named(const JobView& job, const std::string& name) {
  for (const StepView& step : job.steps) {
    if (step.name == name) return &step;
  }
  return nullptr;
}

void expect_done(const JobView& job) {
  ASSERT_EQ(job.targets.size(), 1u);
  ASSERT_EQ(job.state, JobState::done) << (job.targets[0].fault ? job.targets[0].fault->message : "");
  for (const StepView& step : job.steps) EXPECT_LE(step.commits, 1u) << step.name;
}

JobView submit_and_wait(const SmallFarm& farm, const Bytes& model, int level = 2) {
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, model, level), make_request_id());
  EXPECT_TRUE(job.ok()) << job.error().message;
  auto end = wait_for_end(farm, job->id);
  EXPECT_TRUE(end.ok()) << end.error().message;
  return end.ok() ? *end : JobView{};
}

// Waits until the job's tuning has measured something; the runner's pid.
int wait_for_tuning(Client& client, const std::string& job) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    auto view = client.show(job);
    if (!view.ok() || is_end(view->state)) return 0;
    const Progress& progress = view->targets[0].progress;
    const int runner = progress.phase == "tuning" && progress.done >= 1 ? AgentThread::runner_pid() : 0;
    if (runner > 0) return runner;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return 0;
}

TEST(Agent, BuildsASignedEngineThatIsThenAnsweredFromTheCatalog) {
  const SmallFarm farm;
  AgentThread agent(farm);
  const Bytes model = convolutions(2, 1);
  const JobView first = submit_and_wait(farm, model);
  expect_done(first);
  ASSERT_EQ(first.state, JobState::done);
  const TargetView& target = first.targets[0];
  EXPECT_EQ(target.source, Source::built);
  EXPECT_GT(target.timings_measured, 0u);
  EXPECT_GT(target.latency_ms, 0);

  auto client = farm.client();
  auto bytes = client->get_blob(*target.engine);
  ASSERT_TRUE(bytes.ok());
  TrustStore trust;
  PublicKey key{};
  std::copy_n(client->welcome().public_key.begin(), key.size(), reinterpret_cast<char*>(key.data()));
  trust.keys.push_back(key);
  EXPECT_TRUE(check_signature(as_bytes(*bytes), trust).ok());

  const JobView again = submit_and_wait(farm, model);
  expect_done(again);
  EXPECT_EQ(again.targets[0].source, Source::cache);
  const JobView retrained = submit_and_wait(farm, convolutions(2, 2));
  expect_done(retrained);
  EXPECT_EQ(retrained.targets[0].timings_measured, 0u);
  EXPECT_NE(retrained.targets[0].engine, target.engine);

  auto log = client->read_log(first.id, 0, false, milliseconds(0));
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->text.find("timings measured"), std::string::npos) << log->text;
  EXPECT_TRUE(agent.end().ok());
}

TEST(Agent, FailsAJobWhoseModelIsBrokenOnceAndForAll) {
  const SmallFarm farm;
  const AgentThread agent(farm);
  auto client = farm.client();
  SubmitRequest submit = make_submit(*client, convolutions(1, 1));
  const Bytes broken = "not a model";
  ASSERT_TRUE(client->put_blob(as_bytes(broken)).ok());
  submit.model = sha256(broken);
  submit.validate_key[0].value = submit.model.text();
  submit.targets[0].engine_key[0].value = submit.model.text();
  auto job = client->submit(submit, make_request_id());
  ASSERT_TRUE(job.ok()) << job.error().message;
  auto end = wait_for_end(farm, job->id);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->state, JobState::failed);
  ASSERT_TRUE(end->targets[0].fault);
  EXPECT_EQ(end->targets[0].fault->code, ErrorCode::invalid_argument) << end->targets[0].fault->message;
  EXPECT_EQ(step_named(*end, "validate")->attempts.size(), 1u);
}

TEST(Agent, ResumesTheTuningOfAKilledRunner) {
  const SmallFarm farm;
  const AgentThread agent(farm);
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, convolutions(40, 1), 4), make_request_id());
  ASSERT_TRUE(job.ok());
  const int runner = wait_for_tuning(*client, job->id);
  ASSERT_GT(runner, 0) << "the tuning ended before it could be disturbed";
  std::this_thread::sleep_for(milliseconds(1200));  // timings arrive within a second
  ASSERT_EQ(kill(runner, SIGKILL), 0);
  auto end = wait_for_end(farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  expect_done(*end);
  const StepView* tune = step_named(*end, "tune");
  ASSERT_GE(tune->attempts.size(), 2u);
  EXPECT_EQ(tune->attempts[0].outcome, "worker_lost");
  EXPECT_GT(end->targets[0].timings_reused, 0u);
}

TEST(Agent, GoesOnAcrossARestartOfTheCoordinator) {
  SmallFarm farm;
  const AgentThread agent(farm);
  std::string id;
  {
    auto client = farm.client();
    auto job = client->submit(make_submit(*client, convolutions(40, 1), 4), make_request_id());
    ASSERT_TRUE(job.ok());
    id = job->id;
    ASSERT_GT(wait_for_tuning(*client, id), 0);
  }
  farm.stop();
  std::this_thread::sleep_for(milliseconds(500));
  farm.start();
  auto end = wait_for_end(farm, id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  expect_done(*end);
  EXPECT_EQ(step_named(*end, "tune")->attempts.size(), 1u) << "the running step was not attached again";
}

TEST(Agent, CancelsWithinSeconds) {
  const SmallFarm farm;
  const AgentThread agent(farm);
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, convolutions(40, 1), 4), make_request_id());
  ASSERT_TRUE(job.ok());
  ASSERT_GT(wait_for_tuning(*client, job->id), 0);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(client->cancel(job->id).ok());
  while (AgentThread::runner_pid() != 0) {
    ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(client->show(job->id)->state, JobState::cancelled);
}

TEST(Agent, GivesItsStepUpWhenItIsToldToStop) {
  const SmallFarm farm;
  AgentThread first(farm, "worker-1");
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, convolutions(40, 1), 4), make_request_id());
  ASSERT_TRUE(job.ok());
  ASSERT_GT(wait_for_tuning(*client, job->id), 0);
  EXPECT_TRUE(first.end().ok());
  const AgentThread second(farm, "worker-2");
  auto end = wait_for_end(farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  expect_done(*end);
  EXPECT_EQ(step_named(*end, "tune")->attempts[0].outcome, "preempted");
}

// Each fault costs a runner; neither the step nor the worker ends.
TEST(Agent, TunesWithoutTheTacticsThatTakeTheirRunnerDown) {
  for (const char* fault : {"segv", "lost", "prepare"}) {
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    const SmallFarm farm;
    AgentThread agent(farm, "worker-1", ENGINERY_FAULTY_RUNNER);
    const JobView job = submit_and_wait(farm, convolutions(2, 1));
    expect_done(job);
    ASSERT_EQ(job.state, JobState::done) << fault;
    EXPECT_EQ(step_named(job, "tune")->attempts.size(), 1u) << fault;
    auto log = farm.client()->read_log(job.id, 0, false, milliseconds(0));
    ASSERT_TRUE(log.ok());
    EXPECT_NE(log->text.find("goes on in a new runner"), std::string::npos) << log->text;
    const JobView again = submit_and_wait(farm, convolutions(2, 2));
    expect_done(again);
    EXPECT_EQ(again.targets[0].timings_measured, 0u) << fault;
    EXPECT_TRUE(agent.end().ok());
  }
  unsetenv("ENGINERY_TEST_FAULT");
}

TEST(Agent, RefusesAFolderInUseAndASkuThatIsNotHere) {
  const SmallFarm farm;
  AgentOptions options;
  options.coordinator = farm.address();
  options.sku = "h200";
  options.data = farm.folder() / "worker-1";
  options.runner = {ENGINERY_TEST_RUNNER};
  const Status absent = run_agent(options, [] { return true; });
  if (!absent.ok()) {  // a machine that has one would serve it
    EXPECT_NE(absent.error().message.find("h200"), std::string::npos);
  }
  options.coordinator = "tcp://192.0.2.1:7000";
  const Status remote = run_agent(options, [] { return true; });
  ASSERT_FALSE(remote.ok());
  EXPECT_EQ(remote.error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace enginery
