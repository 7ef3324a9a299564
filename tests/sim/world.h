// A farm in one thread: the coordinator's real core and driver, with time, network, disk, workers
// and clients made up from one seed. The same seed gives the same events.
//
// After every event (or every so many, check_every) the rules are checked, those of the disk
// (sim_disk.h) and those of each object of the core (Core::check); run() says the first broken one.
// What the faults did to a step is counted where they strike (Harm), so a job that fails without
// reason is a broken rule as well. Faults happen during the first part of a run; afterwards
// everything must come to rest within a bound.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>

#include "coordinator/server/queue_driver.h"
#include "tests/sim/faults.h"
#include "tests/sim/sim_disk.h"

namespace enginery {

class SimWorker;
class SimClient;
class SimOperator;

struct WorldOptions {
  uint64_t seed = 1;
  StoreKind store = StoreKind::model;
  Faults faults;
  int clients = 3, jobs_each = 4, workers = 5;
  Nanoseconds fault_time = std::chrono::seconds(60);
  Nanoseconds quiet_within = std::chrono::seconds(60);  // after the last fault is over
  CoreOptions core = core_options();
  // Changes what reaches the core, given what is stored: plants the effect of a broken rule.
  std::function<void(Request&, const LoadedQueue&)> tamper;
  // The first client has so many jobs in place of `jobs_each`, all at once; 0: it is as the others.
  int greedy_jobs = 0;
  // The rules are checked after so many events: looking at hundreds of jobs takes long.
  uint64_t check_every = 1;

  static CoreOptions core_options();
};

struct WorldReport {
  std::string violation;  // "" when every rule held
  uint64_t events = 0, coordinator_crashes = 0, coordinator_stalls = 0, worker_crashes = 0;
  uint64_t worker_stops = 0, disk_failures = 0, blobs_lost = 0, partitions = 0, orders = 0;
  std::string unfinished;                            // what had not ended and why, with a violation
  uint64_t shared_problems = 0, measured_twice = 0;  // of tunings (sim_tuning.h)
  uint64_t jobs_done = 0, jobs_failed = 0, jobs_cancelled = 0, commits = 0;
  double end_s = 0, calm_s = 0;  // calm: until everything had ended, after the last fault
};

// A model of the simulation has one of two structures.
inline std::string structure_of(const Digest& model) {
  return std::to_string(model.bytes[0] % 2);
}
// A step that fails on every worker in the same way.
inline bool fails_for_good(const Digest& key) {
  return key.bytes[0] % 64 == 7;
}

// Where messages come from and go to; those of a host share its network.
struct Peer {
  std::string route, host;
};

class World final : public Clock {
 public:
  explicit World(WorldOptions options);
  ~World() override;

  WorldReport run();
  const SimClient& client(size_t number) const { return *clients_.at(number); }

  // --- for workers, clients and the operator

  void at(Nanoseconds delay, std::function<void()> action);
  void send_to_coordinator(const Peer& from, RequestId id, Body body, const std::string& client);
  bool chance(double p) { return faulty() && coin(p); }
  bool coin(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  uint64_t below(uint64_t n) { return random_() % n; }
  Nanoseconds between(Nanoseconds least, Nanoseconds most);
  RequestId request_id() { return {random_(), random_()}; }
  bool faulty() const { return now_ < options_.fault_time; }
  // A fault whose effect lasts: quiet is asked for from its end on.
  void trouble_until(Nanoseconds time) { trouble_until_ = std::max(trouble_until_, time); }
  Harm& harm(const Digest& key) { return harm_[key]; }
  SimDisk& disk() { return disk_; }
  const Faults& faults() const { return options_.faults; }
  // The problems of a tuning whose timings the farm has.
  std::set<uint64_t>& measured(const Digest& tuning) { return measured_[tuning]; }
  const std::vector<std::unique_ptr<SimWorker>>& workers() const { return workers_; }
  WorldReport& report() { return report_; }
  void broken(const std::string& rule);
  // Whether the faults explain that the target failed; "" or why not.
  std::string unexplained(const std::string& job, size_t target) const;
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
  void make_workers();
  void make_clients();
  void network(const std::string& host, std::function<void()> arrive);
  // Runs it in the coordinator's thread: later where that stands still, never in another life.
  void in_coordinator(uint64_t life, std::function<void()> action);
  void start_coordinator();
  void crash_coordinator();
  void feed(CoreEvent event);
  void flush();
  void carry_out(Outbox outbox);
  void deliver(const Reply& reply);
  void arm_timer();
  void sign(SignTask task, uint64_t life);
  void random_faults();
  void partition();
  void lose_blob();
  void check();
  Nanoseconds deadline() const;
  bool all_quiet() const;
  int silent_workers() const;
  std::string unfinished();

  WorldOptions options_;
  std::mt19937_64 random_;
  Nanoseconds now_{}, wall_offset_{std::chrono::hours(24 * 365 * 50)}, trouble_until_{};
  uint64_t order_ = 0;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> queue_;
  SimDisk disk_;
  std::unique_ptr<QueueDriver> driver_;  // null while the coordinator is dead
  uint64_t life_ = 0;                    // of the coordinator; grows with each start
  Nanoseconds stalled_until_{};
  bool flush_due_ = false;
  std::optional<Nanoseconds> timer_at_;
  std::map<std::string, Nanoseconds> cut_off_until_;  // by host
  std::map<std::string, std::string> device_locks_;
  std::map<Digest, Harm> harm_;                    // by the step's key
  std::map<Digest, std::set<uint64_t>> measured_;  // likewise
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  std::unique_ptr<SimOperator> operator_;
  WorldReport report_;
};

}  // namespace enginery
