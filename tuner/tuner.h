// Tuner: chooses tactics by measuring them on the device. Implements plan's TacticSelector.
//
// Flow: for each distinct problem: offer -> prune -> prepare in parallel -> check against the
// reference -> race; then how the network is cut into problems (choose_cover) and the least-cost
// layouts over the whole of it, and a last race of the best whole networks, with branches in
// parallel where that wins. What the timing store knows is
// not measured again. Belongs to one thread; prepares on several.
#pragma once

#include <functional>
#include <optional>

#include "engine/base/clock.h"
#include "engine/plan/tactic_selection.h"
#include "tuner/effort/effort.h"
#include "tuner/timing/timing.h"

namespace enginery {

// From here on a network's alternatives are measured; below it is cut as lowering proposes, at
// level 0 also as estimates speak for (analytic_cover).
// From here on a network's alternatives are measured; below it is cut as lowering proposes.
inline constexpr int kCoverLevel = 3;

struct TunerProgress {
  std::string phase;  // "code", "tune", "layouts", "network"
  int done = 0, total = 0;
};

// A tactic's first steps on the device (preparation, first runs), which may end this process.
// Reported before and after them: what is in flight when a process dies is what may have killed it.
// A round of a race has no names: anything of it may be at fault (`one_by_one` finds out).
struct InFlightTactic {
  std::string device, problem, tactic;  // the timing store's keys
  bool over = false;
};

struct TunerOptions {
  int level = kDefaultLevel;
  std::set<Precision> allowed = {Precision::fp32};
  // Of the random data that tactics run on; empty: another one each time, kept in the timings.
  std::optional<uint64_t> seed;
  // 0: this tuning chooses. n: it is the n-th that measures for another one, and begins elsewhere
  // among the problems, so that they rarely want the same one.
  int assistant = 0;
  int aux_streams = -1;  // at most, besides the main one; -1: as many as the device gains by
  // Prepares candidates one after another, so that one that takes the device down is known.
  bool one_by_one = false;
  std::string worker;  // recorded in each timing
  std::function<void(const TunerProgress&)> progress = [](const TunerProgress&) {};
  std::function<bool()> cancelled = [] { return false; };
  std::function<void(const std::string&)> log = [](const std::string&) {};
  // Called for tactics whose trust is may_fault, and for whole networks; from any thread.
  std::function<void(const InFlightTactic&)> in_flight = [](const InFlightTactic&) {};
  const Clock* clock = nullptr;  // dates of the timings, seconds of the counts; null: the system's
};

struct TunerCounts {
  int timings_measured = 0, timings_reused = 0;
  int problems = 0;  // distinct ones
  // Compiling and packing tactics; checking them (problem_gate.h); timing them; timing networks.
  double preparing_s = 0, checking_s = 0, racing_s = 0, networks_s = 0;
  std::map<FailureKind, int> rejected;  // tactics and networks that failed in this tuning
};

class Tuner final : public TacticSelector {
 public:
  // All references must outlive the tuner.
  Tuner(Device& device, const TacticSources& sources, TimingStore& store, TunerOptions options);
  ~Tuner() override;

  // Errors: cancelled; not_found (a store that only reads lacks a timing); unsupported (every
  // tactic of a node failed, with the failures); device_lost: a new process may go on. It leaves
  // alone the tactic that lost the device, because the store has it as failed; unless several were
  // prepared in parallel when it happened (`one_by_one` finds out which).
  Result<TacticSelection> select(const Network& network) override;

  // Measures what the store lacks of the network's problems and nobody else has in hand, and
  // chooses nothing: the part of a tuning that several share. Errors: as select's.
  Status measure(const Network& network);

  const TunerCounts& counts() const;
  // Median of each chosen tactic in microseconds, parallel to the selection's tactics; 0 where it
  // was not measured. After select.
  const std::vector<double>& node_us() const;

  // How long the network takes with what select chose for it, to be held against another network's:
  // from level 3 on measured as a whole, where the store lacks it; below from the estimates.
  // Errors: as select's.
  Result<double> network_us(const Network& network, const TacticSelection& chosen);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginery
