// The simulator's runs. They are bounded by events, not by time, so that every build sees as much;
// a seed that breaks a rule is printed.
//   ENGINERY_SIM_SEED=n     replays one seed and prints what it did
//   ENGINERY_SIM_EVENTS=n   runs so many events (default 500,000; 100,000 under sanitizers)
//   ENGINERY_SIM_FIRST=n    begins with that seed (tests/sim/nightly keeps count)
//   ENGINERY_SIM_CRASHES=n  lets the coordinator die so often (default 300; 100 under sanitizers)
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/sim/sim_client.h"
#include "tests/sim/world.h"
#include "tests/support/sanitizers.h"

namespace enginery {
namespace {

using ull = unsigned long long;

// The thread sanitizer takes a minute for a seed with a greedy client.
constexpr uint64_t kEvents = test::kSanitized ? 100'000 : 500'000;
constexpr uint64_t kCrashes = test::kSanitized ? 100 : 300;
constexpr uint64_t kGreedySeeds = test::kSanitized ? 1 : 12;

struct Sum : WorldReport {
  uint64_t seeds = 0, first = 0;
  void add(const WorldReport& r) {
    ++seeds;
    for (uint64_t WorldReport::*count :
         {&WorldReport::events, &WorldReport::coordinator_crashes, &WorldReport::coordinator_stalls,
          &WorldReport::worker_crashes, &WorldReport::worker_stops, &WorldReport::disk_failures,
          &WorldReport::blobs_lost, &WorldReport::partitions, &WorldReport::orders,
          &WorldReport::jobs_done, &WorldReport::jobs_failed, &WorldReport::jobs_cancelled,
          &WorldReport::commits, &WorldReport::shared_problems})
      this->*count += r.*count;
    calm_s = std::max(calm_s, r.calm_s);
  }
  void print() const {
    std::printf(
        "%llu seeds from %llu, %llu events; coordinator: %llu crashes, %llu stalls, %llu disk "
        "failures; workers: %llu crashes, %llu stops, %llu drains; %llu partitions, %llu blobs "
        "lost; jobs: %llu done, %llu failed, %llu cancelled; %llu commits; quiet %.1f s after the "
        "last fault at the latest\n",
        ull{seeds}, ull{first}, ull{events}, ull{coordinator_crashes}, ull{coordinator_stalls},
        ull{disk_failures}, ull{worker_crashes}, ull{worker_stops}, ull{orders}, ull{partitions},
        ull{blobs_lost}, ull{jobs_done}, ull{jobs_failed}, ull{jobs_cancelled}, ull{commits},
        calm_s);
  }
};

// Every eighth seed runs over the database.
WorldOptions options_of(uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  if (seed % 8 == 0) options.store = StoreKind::sqlite;
  // Some days are rougher than others.
  const double rough = static_cast<double>(seed % 4);
  options.faults.lose *= rough;
  options.faults.repeat *= rough;
  options.faults.crash_before_commit *= 1 + rough;
  options.faults.crash_after_commit *= 1 + rough;
  options.workers = seed % 7 == 3 ? 12 : 3 + static_cast<int>(seed % 4);
  return options;
}

uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

// Runs seed after seed until `enough` says so; the first broken rule fails the test.
Sum run_seeds(const std::function<WorldOptions(uint64_t)>& make,
              const std::function<bool(const Sum&)>& enough) {
  Sum sum;
  const uint64_t only = number_from_environment("ENGINERY_SIM_SEED", 0);
  sum.first = only != 0 ? only : number_from_environment("ENGINERY_SIM_FIRST", 1);
  for (uint64_t seed = sum.first; sum.seeds == 0 || (only == 0 && !enough(sum)); ++seed) {
    const WorldReport report = World(make(seed)).run();
    sum.add(report);
    if (report.violation.empty()) continue;
    ADD_FAILURE() << report.violation << "\nreplay with ENGINERY_SIM_SEED=" << seed << "; at "
                  << report.end_s << " s, after " << sum.events << " events\n"
                  << report.unfinished;
    break;
  }
  sum.print();
  return sum;
}

TEST(Simulator, EveryRuleHoldsUnderFaults) {
  const uint64_t events = number_from_environment("ENGINERY_SIM_EVENTS", kEvents);
  const Sum sum = run_seeds(options_of, [&](const Sum& s) { return s.events >= events; });
  if (sum.seeds < 10) return;
  // A run without faults would prove nothing.
  EXPECT_GT(sum.coordinator_crashes, sum.seeds);
  EXPECT_GT(sum.coordinator_stalls + sum.partitions + sum.orders, sum.seeds / 2);
  EXPECT_GT(sum.jobs_done, sum.jobs_failed + sum.jobs_cancelled);
  EXPECT_GT(sum.shared_problems, sum.seeds / 4);  // tunings that several workers share
}

// R1: a coordinator that hardly lives.
TEST(Simulator, ACoordinatorThatIsKilledAgainAndAgainLosesNothing) {
  const uint64_t crashes = number_from_environment("ENGINERY_SIM_CRASHES", kCrashes);
  const Sum sum = run_seeds(
      [](uint64_t seed) {
        WorldOptions options = options_of(seed);
        options.faults.crash_before_commit = options.faults.crash_after_commit = 0.03;
        options.faults.crash_between_replies = 0.03;
        return options;
      },
      [&](const Sum& s) { return s.coordinator_crashes >= crashes; });
  EXPECT_GT(sum.jobs_done, sum.jobs_failed + sum.jobs_cancelled);
}

TEST(Simulator, TheSameSeedIsTheSameRun) {
  for (const uint64_t seed : {5u, 8u}) {  // the model and the database
    const WorldReport a = World(options_of(seed)).run(), b = World(options_of(seed)).run();
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.coordinator_crashes, b.coordinator_crashes);
    EXPECT_EQ(a.end_s, b.end_s);
    EXPECT_NE(a.events, World(options_of(seed + 1)).run().events);
  }
}

WorldOptions calm_day(uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.faults = Faults::none();
  options.fault_time = {};
  options.quiet_within = std::chrono::hours(2);
  return options;
}

TEST(Simulator, ACalmDayEndsEveryJob) {
  uint64_t shared = 0;
  for (const uint64_t seed : {2u, 4u, 6u}) {
    const WorldReport report = World(calm_day(seed)).run();
    EXPECT_EQ(report.violation, "");
    EXPECT_EQ(report.coordinator_crashes, 0u);
    EXPECT_EQ(report.jobs_done + report.jobs_failed + report.jobs_cancelled, 12u);
    EXPECT_EQ(report.measured_twice, 0u);
    shared += report.shared_problems;
  }
  EXPECT_GT(shared, 0u);
}

// R14: a client that asks for much holds up nobody for longer than its share. A job takes 13 s at
// most (a tuning of 6 s, a profile of 3 s, the rest 4 s); the small client has three jobs beside
// the greedy one's, and each of their five steps may wait for one that runs.
TEST(Simulator, AGreedyClientDelaysASmallOneByItsShareOnly) {
  constexpr Nanoseconds kBound = std::chrono::seconds(2 * 3 * 13 + 5 * 6);
  for (uint64_t seed = 1; seed <= kGreedySeeds; ++seed) {
    WorldOptions options = calm_day(seed);
    options.workers = 3;
    options.clients = 2;
    options.jobs_each = 3;
    options.greedy_jobs = 100;
    options.check_every = 25;
    World world(options);
    const WorldReport report = world.run();
    ASSERT_EQ(report.violation, "") << "seed " << seed;
    EXPECT_LE(world.client(1).longest(), kBound) << "seed " << seed;
    EXPECT_GT(world.client(0).longest(), kBound) << "seed " << seed;  // it does wait
  }
}

// The simulator must be able to fail: each broken rule is found within a few seeds. Says the first
// violation with the text, "" when there is none.
std::string first_violation(const std::string& text,
                            const std::function<void(WorldOptions&)>& breaking) {
  uint64_t events = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    WorldOptions options = options_of(seed);
    breaking(options);
    const WorldReport report = World(options).run();
    events += report.events;
    if (report.violation.empty() || report.violation.find(text) == std::string::npos) continue;
    std::printf("seed %llu, after %llu events: %s\n", ull{seed}, ull{events},
                report.violation.c_str());
    return report.violation;
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
  EXPECT_NE(first_violation("a stale epoch's output was committed",
                            [](WorldOptions& options) {
                              options.tamper = forge_stale_result;
                              // Shorter than a worker repeats itself: leases are lost while their
                              // steps still run.
                              options.core.worker_lost_after = std::chrono::milliseconds(1500);
                            }),
            "");
}

TEST(Simulator, NoticesTwoMeasurementsOnOneDevice) {
  // To the core no step needs its device for itself; the store knows better.
  std::vector<Step> sharing(steps().begin(), steps().end());
  for (Step& step : sharing)
    if (step.needs == Needs::device_alone) step.needs = Needs::device;
  EXPECT_NE(first_violation("while one measures",
                            [&](WorldOptions& options) { options.core.steps = sharing; }),
            "");
}

TEST(Simulator, NoticesADiskThatLies) {
  EXPECT_NE(first_violation("", [](WorldOptions& options) { options.faults.lying_disk = 0.02; }),
            "");
}

}  // namespace
}  // namespace enginery
