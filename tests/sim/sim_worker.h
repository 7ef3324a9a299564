// A worker as a state machine: syncs, takes steps, pretends to build, dies, freezes and lies.
#pragma once

#include "tests/sim/sim_tuning.h"

namespace enginery {

class SimWorker {
 public:
  SimWorker(World& world, std::string name, std::string sku, std::string device);
  void start();
  void hear(RequestId request, const Body& body);
  const std::string& name() const { return name_; }

 private:
  void later(Nanoseconds delay,
             std::function<void()> action);  // in this life only, and not while frozen
  void run_when_thawed(uint64_t life, std::function<void()> action);
  void sync();
  void transmit(RequestId request);
  void obey(const SyncReply& reply);
  void begin(const RunStep& run);
  void work();
  void tune();
  void finish();
  Outcome outcome();
  void become_idle();
  void crash();

  World& world_;
  std::string name_, sku_, device_;
  uint64_t life_ = 0;  // also the incarnation
  uint64_t sequence_ = 0;
  bool alive_ = false;
  Nanoseconds frozen_until_{};
  uint64_t examined_ = 0;  // the number of its latest self-test, which it passed
  WorkerState state_;
  RunStep step_;
  std::shared_ptr<SimTuning> tuning_;
  RequestId waiting_for_;
  bool answered_ = true;
};

}  // namespace enginery
