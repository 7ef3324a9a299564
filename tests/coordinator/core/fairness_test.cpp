// The fair share over several device types and after a long history: how long a small client waits
// beside a greedy one.
#include <chrono>

#include "tests/coordinator/core/core_harness.h"
#include "tests/support/sanitizers.h"

namespace enginery {
namespace {

using std::chrono::seconds;

// A worker that the test steps; each of its steps takes a second.
struct Busy {
  CoreHarness& farm;
  std::string name, sku;
  std::optional<RunStep> run = {};

  // Ends the step that it runs, if any, and takes the next one.
  void turn() {
    std::optional<SyncReply> reply =
        run ? farm.finish(name, sku, *run) : farm.sync(name, sku, Idle{});
    if (!reply) reply = farm.heard(name);
    run.reset();
    if (reply && std::holds_alternative<RunStep>(reply->desired)) run = run_of(reply);
  }
};

// Jobs that come all at once, under the client's name.
void submit_many(CoreHarness& farm, int count, const std::string& sku, const std::string& client) {
  static int made = 0;
  for (int i = 0; i < count; ++i) {
    const std::string model = client + std::to_string(++made);
    farm.submit(make_submit(model, {sku}, model), client);
  }
}

// Several SKUs have worked off their jobs, and so all of validate's pool, for the clients "a0" to
// "a9".
void make_history(CoreHarness& farm, int jobs) {
  std::vector<Busy> workers;
  for (const char* sku : {"a", "c", "d"}) workers.push_back({farm, std::string("w") + sku, sku});
  for (int i = 0; i < jobs; ++i)
    submit_many(farm, 1, workers[i % 3].sku, "a" + std::to_string(i % 10));
  bool busy = true;
  while (std::exchange(busy, false)) {
    for (Busy& worker : workers) {
      worker.turn();
      busy = busy || worker.run;
    }
    farm.pass(std::chrono::milliseconds(100));
    farm.sign();
  }
}

// How many steps of others begin on b before the first one of the small client.
int steps_before(CoreHarness& farm, Busy& worker, const std::string& job) {
  for (int others = 0; others < 1000; ++others) {
    farm.pass(seconds(1));
    worker.turn();
    farm.sign();
    if (worker.run && worker.run->ref.job == job) return others;
  }
  return 1000;
}

constexpr int kHistory = test::kSanitized ? 2'000 : 10'000;

TEST(Fairness, ASmallClientStartsWithinOneStepAfterTenThousandJobsOnOtherDevices) {
  CoreHarness farm;
  farm.stop_checking();
  make_history(farm, kHistory);
  ASSERT_EQ(farm.core().job_ids(true).size(), size_t{kHistory}) << "they have all been worked off";
  Busy worker{farm, "wb", "b"};
  submit_many(farm, 60, "b", "greedy");
  for (int i = 0; i < 20; ++i) {
    farm.pass(seconds(1));
    worker.turn();
    farm.sign();
  }
  const JobView small = farm.submit(make_submit("small", {"b"}, "small"), "small");
  EXPECT_LE(steps_before(farm, worker, small.id), 1);
}

TEST(Fairness, TwoClientsWithLongAndShortJobsShareTheTime) {
  CoreHarness farm;
  submit_many(farm, 30, "b", "long");
  submit_many(farm, 300, "b", "short");
  Busy worker{farm, "wb", "b"};
  worker.turn();
  std::map<std::string, int> time;
  for (int i = 0; i < 200 && worker.run; ++i) {
    const std::string client = farm.show(worker.run->ref.job).client;
    const int taken = client == "long" ? 10 : 1;
    farm.pass(seconds(taken));
    time[client] += taken;
    worker.turn();
    farm.sign();
  }
  EXPECT_NEAR(time["long"], time["short"], 20);
}

}  // namespace
}  // namespace enginery
