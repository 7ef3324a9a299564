#include "worker/agent/agent.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "pipeline/keys.h"
#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

using namespace test;
using std::chrono::milliseconds;

constexpr char kSku[] = "cpu-sse41";

// A model that fake_runner.cpp understands: so many problems, 20 ms for each.
SubmitSpec slow_tuning(int problems, int weights) {
  const std::string structure = "tune " + std::to_string(problems) + " 20";
  return {structure + " " + std::to_string(weights), sha256(structure), kSku};
}

// Both for people and for whoever asks later what a result was made in.
TEST(Agent, SaysWhatSandboxItsStepsRunIn) {
  const SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  const JobView job = submit_and_wait(farm, slow_tuning(1, 1));
  expect_done(job);
  const std::string state = probe_sandbox().text;
  const auto workers = farm.client()->workers();
  ASSERT_TRUE(workers.ok());
  EXPECT_EQ(workers->at(0).health, "a fake device; sandbox: " + state);
  const auto log = farm.client()->read_log(job.id, 0, false, milliseconds(0));
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->text.find("sandbox of the runner: " + state), std::string::npos) << log->text;
}

TEST(Agent, BuildsASignedEngineThatIsThenAnsweredFromTheCatalog) {
  const SmallFarm farm;
  AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  const JobView first = submit_and_wait(farm, slow_tuning(3, 1));
  expect_done(first);
  ASSERT_EQ(first.state, JobState::done);
  const TargetView& target = first.targets[0];
  EXPECT_EQ(target.source, Source::built);
  EXPECT_EQ(target.timings_measured, 3u);
  EXPECT_EQ(target.latency_ms, 0.5);

  auto client = farm.client();
  auto bytes = client->get_blob(*target.engine);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(
      bytes->starts_with("tune 3 20 1"
                         "choices of 3 problems"
                         " and where it came from"))
      << *bytes;

  const JobView again = submit_and_wait(farm, slow_tuning(3, 1));
  expect_done(again);
  EXPECT_EQ(again.targets[0].source, Source::cache);
  const JobView retrained = submit_and_wait(farm, slow_tuning(3, 2));
  expect_done(retrained);
  EXPECT_EQ(retrained.targets[0].timings_measured, 0u);
  EXPECT_NE(retrained.targets[0].engine, target.engine);
  const JobView larger = submit_and_wait(farm, slow_tuning(5, 1));
  expect_done(larger);
  EXPECT_EQ(larger.targets[0].timings_reused, 3u);

  auto log = client->read_log(first.id, 0, false, milliseconds(0));
  ASSERT_TRUE(log.ok());
  for (const char* text : {"tune on stdout", "measured problem 2", "profile on stdout"}) {
    EXPECT_NE(log->text.find(text), std::string::npos) << log->text;
  }
  EXPECT_TRUE(agent.end().ok());
}

TEST(Agent, FailsAJobWhoseModelIsBrokenOnceAndForAll) {
  const SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  const JobView end = submit_and_wait(farm, {"broken", sha256("broken"), kSku});
  EXPECT_EQ(end.state, JobState::failed);
  ASSERT_TRUE(end.targets[0].fault);
  EXPECT_EQ(end.targets[0].fault->code, ErrorCode::invalid_argument)
      << end.targets[0].fault->message;
  EXPECT_EQ(step_named(end, "validate")->attempts.size(), 1u);
}

TEST(Agent, ResumesTheTuningOfAKilledRunner) {
  const SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  expect_tuning_resumes_after_a_kill(farm, slow_tuning(200, 1));
  const auto log = farm.client()->read_log("j1", 0, false, milliseconds(0));
  ASSERT_TRUE(log.ok());
  size_t measured = 0;
  for (size_t at = 0; (at = log->text.find("measured problem", at)) != std::string::npos; ++at)
    ++measured;
  EXPECT_GE(measured, 200u);
  EXPECT_LE(measured, 200u + 200u / 4) << "more than a quarter was measured again";  // R2
}

// A whole agent dies in the middle of a tuning, with nobody left to flush anything: what it
// measured is on the farm already.
TEST(Agent, LosesNoTimingWhenItIsKilled) {
  const SmallFarm farm;
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, slow_tuning(400, 1)), make_request_id());
  ASSERT_TRUE(job.ok());
  const std::string data = (farm.folder() / "worker-1").string();
  const pid_t agent = fork();
  if (agent == 0) {
    execl(ENGINERY_AGENT_PROCESS, "agent_process", farm.address().c_str(), kSku, data.c_str(),
          "worker-1", ENGINERY_TEST_RUNNER, nullptr);
    _exit(127);
  }
  const Digest device = timing_device_key(std::string("sku=") + kSku + "\n").digest();
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  uint64_t measured = 0;
  while (measured < 300 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(20));
    const auto running = client->show(job->id);
    if (running.ok()) measured = running->targets[0].progress.done;
  }
  const auto timings = client->get_timings(device, {});
  const size_t stored = timings.ok() ? timings->size() : 0;
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  ASSERT_GT(stored, 0u);
  ASSERT_LT(stored, 400u) << "the tuning ended before its agent could be killed";
  const AgentThread next(farm, kSku, ENGINERY_TEST_RUNNER, "worker-1");
  const auto view = wait_for_end(farm, job->id);
  ASSERT_TRUE(view.ok()) << view.error().message;
  expect_done(*view);
  EXPECT_GE(view->targets[0].timings_reused, stored);
  // R2: at most a quarter of what was measured is measured again.
  EXPECT_GE(view->targets[0].timings_reused, measured - measured / 4);
}

// A long log travels in pieces: no line is lost, repeated, cut or out of order. What is said after
// a pause travels by itself, behind pieces of any size.
TEST(Agent, BringsALongLogInOrder) {
  constexpr int kLines = 6000;
  const SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  SubmitSpec loud = slow_tuning(2, 300);
  loud.model += " " + std::to_string(kLines);
  const JobView job = submit_and_wait(farm, loud);
  expect_done(job);
  std::string log;
  auto client = farm.client();
  while (true) {
    const auto chunk = client->read_log(job.id, log.size(), false, milliseconds(0));
    ASSERT_TRUE(chunk.ok()) << chunk.error().message;
    if (chunk->text.empty()) break;
    log += chunk->text;
  }
  size_t at = 0;
  for (int i = 0; i < kLines; ++i) {
    const std::string line = "loud line " + std::to_string(i) + " " + std::string(100, '.') + "\n";
    at = log.find(line, at);
    ASSERT_NE(at, std::string::npos) << line << " is not behind the line before";
    ++at;
  }
  EXPECT_EQ(log.find("loud line", at), std::string::npos) << "a line came twice";
  EXPECT_NE(log.find("measured problem 0", at), std::string::npos) << "said after a pause";
  EXPECT_NE(log.find("measured problem 1", at), std::string::npos) << "said after another";
}

TEST(Agent, GoesOnAcrossARestartOfTheCoordinator) {
  SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  std::string id;
  {
    auto client = farm.client();
    auto job = client->submit(make_submit(*client, slow_tuning(200, 1)), make_request_id());
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
  EXPECT_EQ(step_named(*end, "tune")->attempts.size(), 1u)
      << "the running step was not attached again";
}

TEST(Agent, CancelsWithinSeconds) {
  const SmallFarm farm;
  const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER);
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, slow_tuning(200, 1)), make_request_id());
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
  AgentThread first(farm, kSku, ENGINERY_TEST_RUNNER, "worker-1");
  auto client = farm.client();
  auto job = client->submit(make_submit(*client, slow_tuning(200, 1)), make_request_id());
  ASSERT_TRUE(job.ok());
  ASSERT_GT(wait_for_tuning(*client, job->id), 0);
  EXPECT_TRUE(first.end().ok());
  const AgentThread second(farm, kSku, ENGINERY_TEST_RUNNER, "worker-2");
  auto end = wait_for_end(farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  expect_done(*end);
  EXPECT_EQ(step_named(*end, "tune")->attempts[0].outcome, "preempted");
}

TEST(Agent, RefusesAFolderInUseWhatIsNoAddressAndTheNetworkWithoutAKey) {
  const SmallFarm farm;
  AgentOptions options;
  options.coordinator = farm.address();
  options.sku = kSku;
  options.data = farm.folder() / "worker-1";
  options.runner = {ENGINERY_TEST_RUNNER};
  {
    const AgentThread agent(farm, kSku, ENGINERY_TEST_RUNNER, "worker-1");
    ASSERT_EQ(submit_and_wait(farm, slow_tuning(1, 1)).state, JobState::done);
    const Status second = run_agent(options, [] { return true; });
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::storage) << second.error().message;
  }
  options.coordinator = "tcp://192.0.2.1";
  const Status nowhere = run_agent(options, [] { return true; });
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, ErrorCode::usage);
  options.coordinator = "tcp://192.0.2.1:7000";
  const Status remote = run_agent(options, [] { return true; });
  ASSERT_FALSE(remote.ok());
  EXPECT_EQ(remote.error().code, ErrorCode::untrusted);
}

}  // namespace
}  // namespace enginery
