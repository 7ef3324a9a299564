// The simulator's runs. ENGINERY_SIM_SEED=n replays one seed and prints what it did;
// ENGINERY_SIM_SECONDS=n runs longer.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>

#include "tests/sim/world.h"

namespace enginery {
namespace {

struct Sum {
  uint64_t seeds = 0, events = 0, coordinator_crashes = 0, worker_crashes = 0, disk_failures = 0;
  uint64_t done = 0, failed = 0, cancelled = 0, commits = 0, shared_problems = 0;
  void add(const WorldReport& r) {
    ++seeds;
    events += r.events;
    coordinator_crashes += r.coordinator_crashes;
    worker_crashes += r.worker_crashes;
    disk_failures += r.disk_failures;
    done += r.jobs_done;
    failed += r.jobs_failed;
    cancelled += r.jobs_cancelled;
    commits += r.commits;
    shared_problems += r.shared_problems;
  }
  void print() const {
    std::printf(
        "%llu seeds, %llu events, %llu coordinator crashes, %llu worker crashes, %llu disk "
        "failures; "
        "jobs: %llu done, %llu failed, %llu cancelled; %llu commits\n",
        ull(seeds), ull(events), ull(coordinator_crashes), ull(worker_crashes), ull(disk_failures),
        ull(done), ull(failed), ull(cancelled), ull(commits));
  }
  static unsigned long long ull(uint64_t n) { return n; }
};

WorldOptions options_of(uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  // Some days are rougher than others.
  const double rough = static_cast<double>(seed % 4);
  options.faults.lose *= rough;
  options.faults.repeat *= rough;
  options.faults.crash_before_commit *= 1 + rough;
  options.faults.crash_after_commit *= 1 + rough;
  options.workers = 3 + static_cast<int>(seed % 4);
  options.core.early_assistants = seed % 3;
  return options;
}

std::optional<uint64_t> number_from_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

TEST(Simulator, EveryRuleHoldsUnderFaults) {
  Sum sum;
  if (const auto only = number_from_environment("ENGINERY_SIM_SEED")) {
    const WorldReport report = World(options_of(*only)).run();
    sum.add(report);
    sum.print();
    ASSERT_EQ(report.violation, "") << "seed " << *only << " at " << report.end_s << " s\n"
                                    << report.unfinished;
    return;
  }
  // Processor time, so that a busy machine runs as many seeds as an idle one, unless it is very
  // busy.
  const uint64_t seconds_at_most = number_from_environment("ENGINERY_SIM_SECONDS").value_or(10);
  const auto end = std::clock() + static_cast<std::clock_t>(seconds_at_most * CLOCKS_PER_SEC);
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(6 * seconds_at_most);
  for (uint64_t seed = 1; std::clock() < end && std::chrono::steady_clock::now() < latest; ++seed) {
    const WorldReport report = World(options_of(seed)).run();
    sum.add(report);
    ASSERT_EQ(report.violation, "") << "replay with ENGINERY_SIM_SEED=" << seed << "; at "
                                    << report.end_s << " s, event " << report.events << "\n"
                                    << report.unfinished;
  }
  sum.print();
  EXPECT_GT(sum.coordinator_crashes, sum.seeds);  // a run without crashes would prove nothing
  EXPECT_GT(sum.done, sum.failed + sum.cancelled);
  EXPECT_GT(sum.shared_problems, 0u);  // tunings that several workers share
}

TEST(Simulator, TheSameSeedIsTheSameRun) {
  const WorldReport a = World(options_of(5)).run(), b = World(options_of(5)).run();
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.coordinator_crashes, b.coordinator_crashes);
  EXPECT_EQ(a.end_s, b.end_s);
  EXPECT_NE(a.events, World(options_of(6)).run().events);
}

TEST(Simulator, ACalmDayEndsEveryJob) {
  WorldOptions options;
  options.faults = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const WorldReport report = World(options).run();
  EXPECT_EQ(report.violation, "");
  EXPECT_EQ(report.coordinator_crashes, 0u);
  EXPECT_EQ(report.jobs_done + report.jobs_failed + report.jobs_cancelled, 12u);
}

// Workers take problems so that no two measure the same; one that is cancelled may have begun.
TEST(Simulator, TuningsAreSharedAndHardlyAnythingIsMeasuredTwice) {
  uint64_t shared_problems = 0, measured_twice = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    WorldOptions options;
    options.seed = seed;
    options.workers = 6;
    options.faults = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    options.core.early_assistants = 3;
    const WorldReport report = World(options).run();
    EXPECT_EQ(report.violation, "") << "seed " << seed;
    shared_problems += report.shared_problems;
    measured_twice += report.measured_twice;
  }
  EXPECT_GT(shared_problems, 20u);
  EXPECT_LT(10 * measured_twice, shared_problems);
}

// The simulator must be able to fail: each broken rule is found within a few seeds.
std::string first_violation(const std::function<void(WorldOptions&)>& breaking) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    WorldOptions options = options_of(seed);
    breaking(options);
    if (const WorldReport report = World(options).run(); !report.violation.empty()) {
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed),
                  report.violation.c_str());
      return report.violation;
    }
  }
  return "";
}

// A result of a lost lease in the words of the worker that holds the lease now: what a core that
// does not look at the epoch would commit.
void forge_stale_result(Request& request, const LoadedQueue& rows) {
  auto* sync = std::get_if<SyncRequest>(&request.body);
  auto* finished = sync == nullptr ? nullptr : std::get_if<Finished>(&sync->state);
  if (finished == nullptr || finished->outcome.kind != OutcomeKind::succeeded) return;
  const auto found = rows.steps.find(finished->ref.step);
  if (found == rows.steps.end()) return;
  const StepRow& step = found->second;
  if (step.worker.empty() || step.epoch <= finished->ref.epoch) return;
  sync->worker = step.worker;
  sync->incarnation = step.incarnation;
  sync->sequence = UINT64_MAX;  // not overtaken by anything that the holder has said
  sync->sku = step.sku.empty() ? sync->sku : step.sku;
  sync->device = step.device;
  finished->ref.epoch = step.epoch;
}

TEST(Simulator, NoticesAStaleEpochThatCommits) {
  const std::string rule = first_violation([](WorldOptions& options) {
    options.tamper = forge_stale_result;
    // Shorter than a worker repeats itself: leases are lost while their steps still run.
    options.core.worker_lost_after = std::chrono::milliseconds(1500);
  });
  EXPECT_NE(rule.find("a stale epoch's output was committed"), std::string::npos) << rule;
}

TEST(Simulator, NoticesTwoMeasurementsOnOneDevice) {
  // To the core no step needs its device for itself; the store knows better.
  std::vector<Step> sharing(steps().begin(), steps().end());
  for (Step& step : sharing)
    if (step.needs == Needs::device_alone) step.needs = Needs::device;
  const std::string rule =
      first_violation([&](WorldOptions& options) { options.core.steps = sharing; });
  EXPECT_NE(rule.find("while one measures"), std::string::npos) << rule;
}

TEST(Simulator, NoticesADiskThatLies) {
  EXPECT_NE(first_violation([](WorldOptions& options) { options.faults.lying_disk = 0.02; }), "");
}

}  // namespace
}  // namespace enginery
