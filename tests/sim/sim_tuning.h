// A simulated worker's tuning: takes made-up problems one by one, as several workers do that share
// one, and ends when none is left.
#pragma once

#include "tests/sim/world.h"

namespace enginery {

class SimTuning : public std::enable_shared_from_this<SimTuning> {
 public:
  // What it needs of its worker.
  struct Worker {
    std::string name;
    Peer peer;
    uint64_t incarnation = 0;
    // In this life of the worker only.
    std::function<void(Nanoseconds delay, std::function<void()> action)> later;
    std::function<void()> finish;
  };
  SimTuning(World& world, RunStep run, Worker worker)
      : world_(world), run_(std::move(run)), worker_(std::move(worker)) {}

  // Goes on with what the farm lacks; ends its worker's step when that is nothing.
  void go_on();
  // The coordinator's answer; of no meaning when it is not to the latest question.
  void hear(RequestId request, const ProblemTaken& answer);

 private:
  // As a part of this tuning, which may have been given up meanwhile.
  void later(Nanoseconds delay, std::function<void()> action);
  std::vector<uint64_t> lacking() const;
  void ask(uint64_t problem, size_t left);
  void transmit(RequestId request, size_t left);
  void measure();

  World& world_;
  const RunStep run_;
  const Worker worker_;
  std::set<uint64_t> refused_;  // others have them in hand
  uint64_t problem_ = 0;        // that it asks for, or measures
  RequestId waiting_for_;
  bool answered_ = true;
};

}  // namespace enginery
