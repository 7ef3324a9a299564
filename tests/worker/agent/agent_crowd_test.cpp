// Many agents, each in the middle of its step, and a coordinator that restarts (R3): every one goes
// on, and the new coordinator finds it. ENGINERY_AGENTS=200 makes it the whole bar.
#include <gtest/gtest.h>

#include <unistd.h>
#include <atomic>
#include <chrono>

#include "tests/worker/farm_fixture.h"

namespace enginery {
namespace {

using namespace test;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr char kCrowdSku[] = "cpu-sse41";
constexpr int kAgentsOfAContext = 50;  // each has a handful of sockets; a context has 1023

int agents_wanted() {
  const char* text = std::getenv("ENGINERY_AGENTS");
  return text == nullptr ? 10 : std::atoi(text);
}

// Agents in threads of this process, each with a device of its own.
class AgentCrowd {
 public:
  AgentCrowd(const SmallFarm& farm, int count) : options_(static_cast<size_t>(count)) {
    Dial dial;
    for (int i = 0; i < count; ++i) {
      if (i % kAgentsOfAContext == 0) dial = make_zmq_dial();
      AgentOptions& agent = options_[static_cast<size_t>(i)];
      agent.coordinator = farm.address();
      agent.sku = kCrowdSku;
      agent.name = "crowd-" + std::to_string(i);
      agent.data = farm.folder() / agent.name;
      agent.threads = 1;
      agent.runner = {ENGINERY_TEST_RUNNER, agent.name};
      agent.sandbox = SandboxMode::off;
      agent.dial = dial;
    }
    for (const AgentOptions& agent : options_)
      threads_.emplace_back(
          [this, &agent] { (void)run_agent(agent, [this] { return stop_.load(); }); });
  }
  ~AgentCrowd() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<AgentOptions> options_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

// A tuning of its own for each job, long enough that all of them are in the middle of it together.
std::vector<std::string> submit_tunings(Client& client, int count) {
  std::vector<std::string> jobs;
  for (int i = 0; i < count; ++i) {
    const std::string structure =
        "tune " + std::to_string(10 + count / 4) + " " + std::to_string(1000 + i);
    const SubmitSpec spec{structure + " 1", sha256(structure), kCrowdSku};
    auto job = client.submit(make_submit(client, spec), make_request_id());
    EXPECT_TRUE(job.ok()) << job.error().message;
    if (job.ok()) jobs.push_back(job->id);
  }
  return jobs;
}

// Those whose own word the coordinator has that they are tuning.
int tuning_workers(Client& client) {
  const auto workers = client.workers();
  if (!workers.ok()) return 0;
  return static_cast<int>(
      std::count_if(workers->begin(), workers->end(), [](const WorkerView& worker) {
        return worker.pid == getpid() && worker.step == "tune" && worker.progress.done > 0;
      }));
}

bool wait_until_tuning(Client& client, int count, seconds patience) {
  const auto end = steady_clock::now() + patience;
  while (tuning_workers(client) < count) {
    if (steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(50));
  }
  return true;
}

// The job as it ended, at most four minutes from now. One client asks for all: a machine that
// starts two hundred processes has no time for new connections.
JobView end_of(Client& client, const std::string& job) {
  const auto patience = steady_clock::now() + std::chrono::minutes(4);
  while (steady_clock::now() < patience) {
    const auto view = client.wait(job, 0, seconds(1), true);
    if (!view.ok() || !is_end(view->state)) continue;
    const auto shown = client.show(job);
    if (shown.ok()) return *shown;
  }
  ADD_FAILURE() << "job " << job << " does not end";
  return {};
}

TEST(AgentCrowd, EveryAgentIsFoundAgainByACoordinatorThatRestarts) {
  const int count = agents_wanted();
  SmallFarm farm;
  const auto client = farm.client();
  const AgentCrowd crowd(farm, count);
  const std::vector<std::string> jobs = submit_tunings(*client, count);
  ASSERT_TRUE(wait_until_tuning(*client, count, seconds(120))) << tuning_workers(*client);
  farm.stop();
  std::this_thread::sleep_for(seconds(1));
  const auto begin = steady_clock::now();
  farm.start();
  ASSERT_TRUE(wait_until_tuning(*client, count, seconds(15)))
      << "after the silence that costs a lease, " << tuning_workers(*client) << " are back";
  const std::chrono::duration<double> took = steady_clock::now() - begin;
  for (const std::string& job : jobs) {
    const JobView end = end_of(*client, job);
    expect_done(end);
    const StepView* tune = step_named(end, "tune");
    ASSERT_NE(tune, nullptr) << job;
    EXPECT_EQ(tune->attempts.size(), 1u) << job << " was begun again";
  }
  std::printf("%d of %d agents back after %.1f s\n", count, count, took.count());
}

}  // namespace
}  // namespace enginery
