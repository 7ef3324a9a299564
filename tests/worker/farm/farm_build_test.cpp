// Builds on a farm with real runners; agent_test.cpp has what the agent does of itself.
#include <gtest/gtest.h>

#include <csignal>

#include "engine/base/signed_file.h"
#include "engine/compile/compile.h"
#include "tests/worker/farm_fixture.h"
#include "tests/worker/small_models.h"
#include "worker/engine_check.h"

namespace enginery {
namespace {

using namespace test;
using std::chrono::milliseconds;

SubmitSpec network(int layers, int seed, int level = 2) {
  const Bytes bytes = convolutions(layers, seed);
  BuildOptions options;
  options.level = level;
  options.threads = 1;
  auto model = load_model({"net.onnx", bytes, std::nullopt}, "net", options);
  EXPECT_TRUE(model.ok());
  return {bytes, model->structure_digest, best_cpu_sku(), level};
}

TEST(FarmBuild, BuildsASignedEngineThatIsThenAnsweredFromTheCatalog) {
  const SmallFarm farm(check_engine);
  AgentThread agent(farm, best_cpu_sku(), ENGINERY_TEST_RUNNER);
  const SubmitSpec model = network(2, 1);
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
  std::copy_n(client->welcome().public_key.begin(), key.size(),
              reinterpret_cast<char*>(key.data()));
  trust.keys.push_back(key);
  EXPECT_TRUE(check_signature(as_bytes(*bytes), trust).ok());

  const JobView again = submit_and_wait(farm, model);
  expect_done(again);
  EXPECT_EQ(again.targets[0].source, Source::cache);
  const JobView retrained = submit_and_wait(farm, network(2, 2));
  expect_done(retrained);
  EXPECT_EQ(retrained.targets[0].timings_measured, 0u);
  EXPECT_NE(retrained.targets[0].engine, target.engine);

  auto log = client->read_log(first.id, 0, false, milliseconds(0));
  ASSERT_TRUE(log.ok());
  EXPECT_NE(log->text.find("timings measured"), std::string::npos) << log->text;
  EXPECT_TRUE(agent.end().ok());
}

TEST(FarmBuild, FailsAJobWhoseModelIsBrokenOnceAndForAll) {
  const SmallFarm farm(check_engine);
  const AgentThread agent(farm, best_cpu_sku(), ENGINERY_TEST_RUNNER);
  auto client = farm.client();
  SubmitRequest submit = make_submit(*client, network(1, 1));
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
  EXPECT_EQ(end->targets[0].fault->code, ErrorCode::invalid_argument)
      << end->targets[0].fault->message;
  EXPECT_EQ(step_named(*end, "validate")->attempts.size(), 1u);
}

TEST(FarmBuild, ResumesTheTuningOfAKilledRunner) {
  const SmallFarm farm(check_engine);
  const AgentThread agent(farm, best_cpu_sku(), ENGINERY_TEST_RUNNER);
  expect_tuning_resumes_after_a_kill(farm, network(30, 1));
}

// Each fault costs a runner; neither the step nor the worker ends.
TEST(FarmBuild, TunesWithoutTheTacticsThatTakeTheirRunnerDown) {
  for (const char* fault : {"segv", "lost", "prepare"}) {
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    const SmallFarm farm(check_engine);
    AgentThread agent(farm, best_cpu_sku(), ENGINERY_FAULTY_RUNNER);
    const JobView job = submit_and_wait(farm, network(2, 1));
    expect_done(job);
    ASSERT_EQ(job.state, JobState::done) << fault;
    EXPECT_EQ(step_named(job, "tune")->attempts.size(), 1u) << fault;
    auto log = farm.client()->read_log(job.id, 0, false, milliseconds(0));
    ASSERT_TRUE(log.ok());
    EXPECT_NE(log->text.find("goes on in a new runner"), std::string::npos) << log->text;
    const JobView again = submit_and_wait(farm, network(2, 2));
    expect_done(again);
    EXPECT_EQ(again.targets[0].timings_measured, 0u) << fault;
    EXPECT_TRUE(agent.end().ok());
  }
  unsetenv("ENGINERY_TEST_FAULT");
}

// Nothing was measured: the tactic is met where the engine is verified, by number or by crash.
TEST(FarmBuild, ReplacesATacticThatFailsInTheWholeEngine) {
  const std::pair<const char*, const char*> faults[] = {{"wrong", "is off by"},
                                                        {"segv", "signal 11"}};
  for (const auto& [fault, reason] : faults) {
    setenv("ENGINERY_TEST_FAULT", fault, 1);
    const SmallFarm farm(check_engine);
    AgentThread agent(farm, best_cpu_sku(), ENGINERY_FAULTY_RUNNER);
    const JobView job = submit_and_wait(farm, network(2, 1, 0));
    expect_done(job);
    ASSERT_EQ(job.state, JobState::done) << fault;
    EXPECT_EQ(step_named(job, "verify")->attempts.size(), 1u) << fault;
    auto log = farm.client()->read_log(job.id, 0, false, milliseconds(0));
    ASSERT_TRUE(log.ok());
    EXPECT_NE(log->text.find("faulty:bad"), std::string::npos) << log->text;
    EXPECT_NE(log->text.find(reason), std::string::npos) << log->text;
    // The farm's timings have it: the next model of the structure is right at once.
    const JobView again = submit_and_wait(farm, network(2, 2, 0));
    expect_done(again);
    log = farm.client()->read_log(again.id, 0, false, milliseconds(0));
    ASSERT_TRUE(log.ok());
    EXPECT_NE(log->text.find("chosen again"), std::string::npos) << log->text;
    EXPECT_EQ(log->text.find("is rejected"), std::string::npos) << log->text;
    EXPECT_TRUE(agent.end().ok());
  }
  unsetenv("ENGINERY_TEST_FAULT");
}

TEST(FarmBuild, RefusesASkuThatIsNotHere) {
  const SmallFarm farm(check_engine);
  AgentOptions options;
  options.coordinator = farm.address();
  options.sku = "h200";
  options.data = farm.folder() / "worker-1";
  options.runner = {ENGINERY_TEST_RUNNER};
  const Status absent = run_agent(options, [] { return true; });
  if (!absent.ok()) {  // a machine that has one would serve it
    EXPECT_NE(absent.error().message.find("h200"), std::string::npos);
  }
}

}  // namespace
}  // namespace enginery
