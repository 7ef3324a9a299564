// Farms of several made devices (made_device.h) that share one tuning, with real agents and
// runners.
#include <gtest/gtest.h>

#include <csignal>

#include "engine/compile/compile.h"
#include "tests/support/sanitizers.h"
#include "tests/worker/farm_fixture.h"
#include "tests/worker/small_models.h"
#include "worker/engine_check.h"

namespace enginery {
namespace {

using namespace test;
using std::chrono::milliseconds;

constexpr int kLayers = kSanitized ? 5 : 10;

SubmitSpec shared_network() {
  const Bytes bytes = convolutions(kLayers, 1);
  BuildOptions options;
  options.level = 2;
  options.threads = 1;
  auto model = load_model({"net.onnx", bytes, std::nullopt}, "net", options);
  EXPECT_TRUE(model.ok());
  return {bytes, model->structure_digest, best_cpu_sku(), options.level};
}

struct MadeFarm {
  SmallFarm farm{check_engine};
  std::vector<std::unique_ptr<AgentThread>> agents;

  explicit MadeFarm(int workers) {
    for (int i = 1; i <= workers; ++i) {
      const std::string name = "made-" + std::to_string(i);
      agents.push_back(std::make_unique<AgentThread>(farm, best_cpu_sku(), ENGINERY_MADE_RUNNER,
                                                     name, std::vector<std::string>{name}));
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    auto client = farm.client();
    for (size_t idle = 0; idle < agents.size() && std::chrono::steady_clock::now() < end;
         std::this_thread::sleep_for(milliseconds(20))) {
      const auto skus = client->skus();
      idle = skus.ok() && !skus->empty() ? skus->front().idle : 0;
    }
  }
  // What its network was built into.
  Digest content_of(const JobView& job) const {
    expect_done(job);
    const auto engines = farm.client()->find_engines({"net"});
    EXPECT_TRUE(engines.ok());
    if (!engines.ok() || engines->empty()) return {};
    return engines->front().content_digest;
  }
  std::string log_of(const JobView& job) const {
    const auto log = farm.client()->read_log(job.id, 0, false, milliseconds(0));
    return log.ok() ? log->text : "";
  }
};

bool is_assisted(const JobView& job) {
  return step_named(job, "tune assistant 1") != nullptr;
}

Digest content_of_one_worker() {
  static const Digest content = [] {
    MadeFarm one(1);
    const JobView job = submit_and_wait(one.farm, shared_network());
    EXPECT_FALSE(is_assisted(job)) << "it was alone";
    return one.content_of(job);
  }();
  return content;
}

class SharedTuningOnAFarm : public testing::TestWithParam<int> {};

TEST_P(SharedTuningOnAFarm, BuildsWhatOneWorkerBuilds) {
  MadeFarm many(GetParam());
  const JobView job = submit_and_wait(many.farm, shared_network());
  EXPECT_EQ(many.content_of(job), content_of_one_worker());
  EXPECT_TRUE(is_assisted(job));
  EXPECT_NE(many.log_of(job).find("measured for another worker"), std::string::npos)
      << many.log_of(job);
}

// By the step's state: progress is told too seldom for a tuning of made devices.
bool tunes(const JobView& job) {
  const StepView* tune = step_named(job, "tune");
  return tune != nullptr && tune->state == StepState::running;
}

INSTANTIATE_TEST_SUITE_P(Workers, SharedTuningOnAFarm, testing::Values(2, 4));

TEST(SharedTuningOnAFarmOfTwo, AKilledRunnerChangesNothing) {
  MadeFarm two(2);
  auto client = two.farm.client();
  auto job = client->submit(make_submit(*client, shared_network()), make_request_id());
  ASSERT_TRUE(job.ok());
  const int runner = wait_for_runner(*client, job->id, tunes);
  ASSERT_GT(runner, 0) << "the tuning ended before it could be disturbed";
  ASSERT_EQ(kill(runner, SIGKILL), 0);
  const auto end = wait_for_end(two.farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(two.content_of(*end), content_of_one_worker());
}

TEST(SharedTuningOnAFarmOfTwo, AJobMayKeepItsTuningOnOneWorker) {
  MadeFarm two(2);
  auto client = two.farm.client();
  SubmitRequest request = make_submit(*client, shared_network());
  request.tuning_workers = 1;
  auto job = client->submit(request, make_request_id());
  ASSERT_TRUE(job.ok());
  const auto end = wait_for_end(two.farm, job->id);
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_FALSE(is_assisted(*end));
  EXPECT_EQ(two.content_of(*end), content_of_one_worker());
}

}  // namespace
}  // namespace enginery
