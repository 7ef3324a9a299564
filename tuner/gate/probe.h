// Probe: one problem on one set of inputs, with what right results are: runs tactics on it and says
// which are wrong. The gate that every tactic passes before it is timed is a few of them
// (problem_tuner.h).
//
// Where: ProblemTuner makes them; a measurement fixture times on the symmetric one. Belongs to one
// thread, but for `prepare`. Deterministic for a seed.
#pragma once

#include <map>
#include <memory>

#include "engine/device/failure.h"
#include "tuner/gate/comparison.h"
#include "tuner/gate/problem_buffers.h"

namespace enginery {

// How one launch compares with the reference.
struct CheckedResult {
  double relative_error = 0;  // max|y - r| / max|r| over the compared elements
  std::string rejected;       // why the result is refused, with the numbers; empty when it is right
  FailureKind kind = FailureKind::unknown;  // wrong_result or red_zone, when it is refused
};

class Probe {
 public:
  // `device` outlives the probe. `placements`: of its buffers, see ProblemBuffers. Errors:
  // device_lost.
  static Result<std::unique_ptr<Probe>> make(const Problem& problem, Device& device, ProbeSpec spec,
                                             Coverage coverage, int placements);
  // For make() alone.
  Probe(const Problem& problem, ProbeSpec spec, Coverage coverage);

  // The tactic with this probe's weights. Thread-safe. Errors: those of TacticSource::prepare.
  Result<std::shared_ptr<const PreparedTactic>> prepare(const TacticSource& source,
                                                        const Tactic& tactic) const;

  // Launches one after another, each on poisoned outputs between red zones. Checked: all red zones,
  // every input, every output; and that a deterministic tactic writes the same bits each time.
  // Errors: only those of running it (out_of_memory, device_lost, internal).
  Result<CheckedResult> check(const Tactic& tactic, const PreparedTactic& prepared, int launches);

  const Problem& problem() const { return problem_; }
  ProblemBuffers& buffers() { return *buffers_; }

 private:
  Result<const std::vector<ExpectedOutput>*> expected(Resolution resolution);
  using Storage = std::vector<uint8_t>;
  Result<CheckedResult> damage(const Tactic& tactic, const PreparedTactic& prepared);
  CheckedResult compare_all(const Tactic& tactic, const std::vector<ExpectedOutput>& expected,
                            const std::vector<Storage>& outputs) const;
  std::string where(const std::string& what) const;

  const Problem problem_;
  const ProbeData data_;
  const Coverage coverage_;
  const Arithmetic arithmetic_;
  std::unique_ptr<ProblemBuffers> buffers_;
  std::map<Resolution, std::vector<ExpectedOutput>> expected_;
};

}  // namespace enginery
