// A worker: the agent's own SyncState over a pretended device that builds, dies, freezes, runs out
// of memory and lies.
#pragma once

#include "tests/sim/sim_tuning.h"
#include "worker/agent/sync_state.h"

namespace enginery {

struct SimWorkerOptions {
  std::string name, sku, toolchain, device;
  std::string route;  // of its messages; another one for each process
  // A second worker of another's name, which leaves for good when the faults end.
  bool intruder = false;
};

class SimWorker {
 public:
  SimWorker(World& world, SimWorkerOptions options);
  void start();
  void hear(RequestId request, const Body& body);
  const SimWorkerOptions& options() const { return options_; }
  Nanoseconds frozen_until() const { return frozen_until_; }
  bool prefers_idle() const { return alive_ && state_.latest().prefer_idle; }

 private:
  // In this life only, and not while frozen.
  void later(Nanoseconds delay, std::function<void()> action);
  void run_when_thawed(uint64_t life, std::function<void()> action);
  // The same, and only while it works on this attempt.
  void later_in_step(Nanoseconds delay, std::function<void()> action);

  void sync();
  void transmit(RequestId request);
  void obey(const SyncReply& reply);
  void begin(const RunStep& run);
  void work();
  void tune();
  void stop_step(OutcomeKind how);
  void finish(Outcome end);
  Outcome outcome();
  std::optional<Outcome> trouble();
  void leave();
  void die();
  void end_life();
  void count_kills(bool of_any_life);
  bool runs() const { return running_.has_value(); }

  World& world_;
  const SimWorkerOptions options_;
  uint64_t life_ = 0;
  bool alive_ = false;
  Nanoseconds frozen_until_{};
  SyncState state_{SyncRequest{}};
  std::optional<RunStep> running_;
  uint64_t run_ = 0;  // counts the steps that it began
  std::shared_ptr<SimTuning> tuning_;
  bool stopping_ = false, examining_ = false;
  using Attempt = std::pair<uint64_t, uint64_t>;  // a step and its epoch
  std::set<Attempt> counted_;                     // what the end of this life is held against
  RequestId waiting_for_;
  bool answered_ = true;
};

}  // namespace enginery
