// A farm in one thread: the coordinator's real core and driver, with time, network, disk, workers
// and clients made up from one seed. The same seed gives the same events.
//
// After every event the rules are checked, those of the store and those of each object of the core
// (Core::check); run() says the first broken one.
// Faults happen during the first part of a run; afterwards everything must come to rest within a
// bound.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>

#include "coordinator/server/queue_driver.h"
#include "engine/base/clock.h"
#include "tests/sim/memory_store.h"

namespace enginery {

class SimWorker;
class SimClient;

// How likely the faults are; all zero is a calm day.
struct Faults {
  double lose = 0.05, repeat = 0.05, slow = 0.1;  // a message
  double crash_before_commit = 0.004, crash_after_commit = 0.004,
         crash_between_replies = 0.004;  // the coordinator, an event
  double disk_full = 0.002;              // an event
  double worker_crash = 0.01, worker_freeze = 0.004,
         worker_lies = 0.005;  // a worker, a step of its life
  double blob_lost = 0.0005;   // an event
  double clock_jump = 0.01;    // wall time, an event
  double lying_disk = 0;       // a commit: only to see that it is noticed
};

struct WorldOptions {
  uint64_t seed = 1;
  Faults faults;
  int clients = 3, jobs_each = 4, workers = 5;
  Nanoseconds fault_time = std::chrono::seconds(60);
  Nanoseconds quiet_within = std::chrono::seconds(400);  // after the last fault
  bool fifo_network = false;
  CoreOptions core;
  // Changes what reaches the core, given what is stored: plants the effect of a broken rule.
  std::function<void(Request&, const LoadedQueue&)> tamper;
};

struct WorldReport {
  std::string violation;  // "" when every rule held
  uint64_t events = 0, coordinator_crashes = 0, worker_crashes = 0, disk_failures = 0;
  std::string unfinished;                            // what had not ended and why, with a violation
  uint64_t shared_problems = 0, measured_twice = 0;  // of tunings (sim_tuning.h)
  uint64_t jobs_done = 0, jobs_failed = 0, jobs_cancelled = 0, commits = 0, stale_finishes = 0;
  double end_s = 0;
};

// A model of the simulation has one of two structures.
inline std::string structure_of(const Digest& model) {
  return std::to_string(model.bytes[0] % 2);
}

class World final : public Clock {
 public:
  explicit World(WorldOptions options);
  ~World() override;

  WorldReport run();

  // --- for workers and clients
  // --------------------------------------------------------------------------------------
  void at(Nanoseconds delay, std::function<void()> action);
  void send_to_coordinator(const std::string& from, RequestId id, Body body,
                           const std::string& client);
  bool chance(double p) { return faulty() && std::uniform_real_distribution<>(0, 1)(random_) < p; }
  bool coin(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  uint64_t below(uint64_t n) { return random_() % n; }
  Nanoseconds between(Nanoseconds least, Nanoseconds most);
  RequestId request_id() { return {random_(), random_()}; }
  bool faulty() const { return now_ < options_.fault_time; }
  MemoryStore& store() { return store_; }
  const Faults& faults() const { return options_.faults; }
  // The problems of a tuning whose timings the farm has.
  std::set<uint64_t>& measured(const Digest& tuning) { return measured_[tuning]; }
  WorldReport& report() { return report_; }
  void broken(const std::string& rule);
  // The per-host lock file of real workers: who measures on the device now.
  bool lock_device(const std::string& device, const std::string& worker);
  void unlock_device(const std::string& device, const std::string& worker);

  Nanoseconds monotonic() const override { return now_; }
  Nanoseconds wall_time() const override { return now_ + wall_offset_; }

 private:
  struct Happening {
    Nanoseconds at{};
    uint64_t order = 0;
    std::function<void()> action;
    bool operator>(const Happening& other) const {
      return std::tie(at, order) > std::tie(other.at, other.order);
    }
  };
  void network(std::function<void()> arrive);
  void start_coordinator();
  void crash_coordinator();
  void feed(CoreEvent event);
  void flush();
  void carry_out(Outbox outbox);
  void deliver(const Reply& reply);
  void arm_timer();
  void sign(SignTask task, uint64_t life);
  void random_faults();
  void check();
  bool all_quiet() const;
  std::string unfinished();

  WorldOptions options_;
  std::mt19937_64 random_;
  Nanoseconds now_{}, wall_offset_{std::chrono::hours(24 * 365 * 50)};
  uint64_t order_ = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
  MemoryStore store_;
  std::unique_ptr<QueueDriver> driver_;  // null while the coordinator is dead
  uint64_t life_ = 0;                    // of the coordinator; grows with each start
  bool flush_due_ = false;
  std::optional<Nanoseconds> timer_at_;
  std::map<std::string, std::string> device_locks_;
  std::map<Digest, std::set<uint64_t>> measured_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  WorldReport report_;
};

}  // namespace enginery
