// Tuner: chooses tactics by measuring them on the device. Implements plan's TacticSelector.
//
// Flow: for each distinct problem: offer -> prune -> prepare side by side -> check against the
// reference -> race; then the least-cost layouts over the whole network, a last race of the best
// whole networks, with branches side by side where that wins. What the timing store knows is not
// measured again. Belongs to one thread; prepares on several.
#pragma once

#include <functional>

#include "engine/base/clock.h"
#include "engine/plan/assignment.h"
#include "tuner/race.h"
#include "tuner/timing/timing.h"

namespace enginery {

// 0 no timing: the analytic model; 1 cache only; 2 short list; 3 default; 4 every tactic offered; 5
// and more whole networks.
inline constexpr int kDefaultLevel = 3;

struct TunerProgress {
  std::string phase;  // "code", "tune", "layouts", "network"
  int done = 0, total = 0;
};

// A tactic's first steps on the device (preparation, first runs): what may take this process down.
// Told before and after.
struct TacticTrial {
  std::string device, problem, tactic;  // the store's keys
  bool over = false;
};

struct TunerOptions {
  int level = kDefaultLevel;
  std::set<Precision> allowed = {Precision::fp32};
  uint64_t seed = 1;
  int aux_streams = -1;  // beside the main one, at most; -1: as many as the device gains by
  bool one_by_one =
      false;  // prepare candidates one after another: one that takes the device down is then known
  std::string worker;  // recorded in each timing
  std::function<void(const TunerProgress&)> progress = [](const TunerProgress&) {};
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(const std::string&)> log = [](const std::string&) {};
  std::function<void(const TacticTrial&)> trial = [](const TacticTrial&) {
  };                             // of those that may fault; from any thread
  const Clock* clock = nullptr;  // dates of the timings; null: the system's
};

struct TunerCounts {
  int timings_measured = 0, timings_reused = 0;
  int problems = 0;  // distinct ones
  double preparing_s = 0, racing_s = 0,
         networks_s = 0;  // compiling, packing and checking tactics; timing them; whole networks
};

class Tuner final : public TacticSelector {
 public:
  // All references must outlive the tuner.
  Tuner(Device& device, const TacticSources& sources, TimingStore& store, TunerOptions options);
  ~Tuner() override;

  // Errors: cancelled; not_found (a store that only reads lacks a timing); unsupported (every
  // tactic of a node failed, with the failures); device_lost: a new process may go on, and leaves
  // alone the tactic that did it, which the store has as failed (but for one that did it while
  // others were prepared beside it: `one_by_one`).
  Result<Assignment> select(const Network& network) override;

  const TunerCounts& counts() const;
  // Median of each node's chosen tactic in microseconds, parallel to the network's nodes; after
  // select.
  const std::vector<double>& node_us() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginery
