// MeasurementFixture: one problem set up on a device with random data, where its tactics are
// checked (gate/probe.h) and timed, in several placements of small buffers.
//
// Where: ProblemTuner makes one for each problem, and more where close tactics race again, because
// every fixture's buffers lie elsewhere. Belongs to one thread, but for `prepare`. Deterministic
// for a seed.
#pragma once

#include <memory>

#include "engine/device/device.h"
#include "tuner/gate/probe.h"
#include "tuner/race/race.h"

namespace enginery {

// A tactic with its weights in place, several times: launches take the copies in turn, so that
// weights come from the level of the memory from which an engine will read them.
struct PreparedCandidate {
  const Tactic* tactic = nullptr;
  std::vector<std::shared_ptr<const PreparedTactic>> copies;
};

class MeasurementFixture {
  struct State;

 public:
  // Makes the inputs; device memory is allocated when a tactic needs it. `device` outlives the
  // fixture. Errors: device_lost.
  static Result<std::unique_ptr<MeasurementFixture>> make(const Problem& problem, Device& device,
                                                          uint64_t seed);
  ~MeasurementFixture();

  // How many placements of its buffers a candidate takes in turn; 1 where the device's times do not
  // depend on addresses, or the buffers are large.
  int placements() const;

  // Prepares the tactic on random weights. Thread-safe, so that candidates can be prepared in
  // parallel. Errors: those of TacticSource::prepare.
  Result<PreparedCandidate> prepare(const TacticSource& source, const Tactic& tactic) const;

  // Whether one launch of it is right on this fixture's data (Probe::check). Errors: only those of
  // running it (out_of_memory, device_lost, internal).
  Result<CheckedResult> check(const PreparedCandidate& prepared);

  // A candidate that times it, in batches long enough for the device's instrument. Borrows from the
  // fixture. Errors: unsupported (the device cannot measure); those of the launches.
  Result<Candidate> candidate(const PreparedCandidate& prepared);

  // The same with its weights and its code out of the caches, as they are behind other layers, and
  // its inputs in them where they fit, as if a layer before had just written them. `us` says
  // roughly how long a launch takes. Errors: as candidate; out_of_memory.
  Result<Candidate> cold_candidate(const PreparedCandidate& prepared, double us);

  // For make() alone.
  explicit MeasurementFixture(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace enginery
