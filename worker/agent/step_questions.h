// What a running step asks the farm: the timings that it knows of a problem.
//
// A farm that is away must not hold up a measurement: it is given five seconds, and after a failure
// it is left alone for half a minute, in which everything counts as unknown. Belongs to one step;
// one thread at a time.
#pragma once

#include "worker/agent/farm_connection.h"

namespace enginery {

class StepQuestions {
 public:
  // `cancelled` ends every waiting; `clock`, null for the machine's, outlives the object.
  StepQuestions(const FarmAddress& address, std::function<bool()> cancelled,
                const Clock* clock = nullptr);

  // What the farm knows of the problem on the device; nothing when it does not answer.
  std::vector<TimingEntry> known_timings(const Digest& device, const Digest& problem);

 private:
  const std::function<bool()> cancelled_;
  const SystemClock system_clock_;
  const Clock& clock_;
  Nanoseconds deadline_{};  // of the question that is being asked
  Nanoseconds ask_again_at_{};
  FarmConnection farm_;
};

}  // namespace enginery
