// Lab: one problem set up on a device with random data, where its tactics are checked and timed.
//
// Belongs to one thread. Deterministic for a seed.
#pragma once

#include <map>
#include <memory>

#include "engine/device/device.h"
#include "engine/plan/network.h"
#include "tuner/race.h"

namespace enginery {

// A tactic ready to be timed.
struct LabCandidate {
  const Tactic* tactic = nullptr;
  std::vector<std::shared_ptr<const PreparedTactic>>
      copies;  // a ring, so that weights come from where they will come from
};

class Lab {
 public:
  static Result<std::unique_ptr<Lab>> make(const Problem& problem, Device& device, uint64_t seed);
  ~Lab();

  // So many places of its buffers a lane takes in turn; 1 where it does not depend on them, or the
  // buffers are large.
  int places() const;

  // Prepares the tactic on random weights; thread-safe, so that candidates can be prepared side by
  // side.
  Result<LabCandidate> prepare(const TacticSource& source, const Tactic& tactic) const;

  // Runs it once on poisoned outputs between red zones and compares with the reference. The
  // relative error, or why it failed (the code is `internal` for a wrong result; its message has
  // the numbers).
  Result<double> check(const LabCandidate& candidate);

  // A lane that times it, in units long enough for the device's instrument. The lane borrows from
  // the lab.
  Result<Lane> lane(const LabCandidate& candidate);

 private:
  struct State;
  explicit Lab(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What a right result may differ by: max|y - r| / max|r| for one layer.
double error_bar(Precision compute);

}  // namespace enginery
