// What a running step asks the farm: the timings that it knows of a problem, and whether the
// problem is this worker's to measure.
//
// A farm that is away must not hold up a measurement: it is given five seconds, and after a failure
// it is left alone for half a minute, in which everything counts as unknown and as this worker's.
// Belongs to one step; one thread at a time.
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

  // Whether this worker measures the problem; it does when the farm does not answer.
  ProblemTaken take(const TakeProblem& wish);
  // After a failure it is not asked.
  bool is_left_alone() const { return clock_.monotonic() < ask_again_at_; }

 private:
  template <typename Ask>
  auto ask(Ask question) -> decltype(question(std::declval<Client&>()));
  const std::function<bool()> cancelled_;
  const SystemClock system_clock_;
  const Clock& clock_;
  Nanoseconds deadline_{};  // of the question that is being asked
  Nanoseconds ask_again_at_{};
  FarmConnection farm_;
};

}  // namespace enginery
