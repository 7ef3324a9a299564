// The core with its driver over a store in memory, a clock that the test turns, and workers that
// the test speaks for.
//
// Every accessor fails the test instead of aborting when something else is there than expected, so
// that a broken rule is a failed test and the other tests still run.
#pragma once

#include <gtest/gtest.h>

#include "coordinator/server/queue_driver.h"
#include "tests/coordinator/farm_fixture.h"
#include "tests/sim/memory_store.h"

namespace enginery {

class CoreHarness final : public Clock {
 public:
  explicit CoreHarness(CoreOptions options = {}) : options_(std::move(options)) { restart(); }

  Nanoseconds monotonic() const override { return now_; }
  Nanoseconds wall_time() const override { return now_ + std::chrono::hours(1000); }

  // A crash and a new start from what is stored.
  void restart();
  // Lets time pass, firing the timers on the way.
  void pass(Nanoseconds time);

  // Lets time pass in which the coordinator does not run: no timer fires.
  void stall(Nanoseconds time) { now_ += time; }

  // From now on the rules of the core are not checked after every event: for long histories.
  void stop_checking() { checks_ = false; }

  // Sends a request and returns what was answered to it at once, if anything; other answers wait in
  // `answers`.
  std::optional<Body> ask(Body body, const std::string& who = "tester",
                          std::optional<RequestId> id = {});
  JobView submit(SubmitRequest request, const std::string& client = "tester");
  JobView show(const std::string& job);

  // A worker's Sync in the state; `sequence` grows by itself.
  std::optional<SyncReply> sync(const std::string& worker, const std::string& sku,
                                WorkerState state, const std::string& device = "",
                                uint64_t incarnation = 1);
  // The worker finishes the step with outcome_of, and hears what is next.
  std::optional<SyncReply> finish(const std::string& worker, const std::string& sku,
                                  const RunStep& run, const std::string& device = "");
  // The newest Sync answer that a worker got since it asked.
  std::optional<SyncReply> heard(const std::string& worker);
  // Whether a held request of `who` has been answered by now; takes the answers.
  bool answered(const std::string& who);
  // Signs what waits for a signature.
  void sign();
  const std::vector<SignTask>& to_sign() const { return signing_; }

  MemoryStore store;
  const Core& core() const { return driver_->core(); }

 private:
  void flush();
  CoreOptions options_;
  bool checks_ = true;
  Nanoseconds now_{std::chrono::seconds(100)};
  std::unique_ptr<QueueDriver> driver_;
  std::vector<Reply> answers_;
  std::vector<SignTask> signing_;
  std::map<std::string, uint64_t> sequences_;
  uint64_t next_id_ = 1;
};

// The answer as a T; fails the test and gives an empty one when it is something else.
template <typename T>
T body_of(const std::optional<Body>& body) {
  if (body)
    if (const T* expected = std::get_if<T>(&*body)) return *expected;
  const auto* error = body ? std::get_if<ErrorReply>(&*body) : nullptr;
  ADD_FAILURE() << (error != nullptr ? error->fault.message
                    : body           ? "an answer of another kind, " + std::to_string(body->index())
                                     : "no answer");
  return {};
}
// Whether the worker was told T: Cancel, Exit, ...
template <typename T>
bool told(const std::optional<SyncReply>& reply) {
  return reply && std::holds_alternative<T>(reply->desired);
}
// A step or target of the view; fails the test and gives an empty one when there is none.
StepView step_of(const JobView& view, size_t index);
TargetView target_of(const JobView& view, size_t index = 0);
// The target's engine; fails the test when it has none.
Digest engine_of(const JobView& view, size_t index = 0);
// Why the job's target failed; fails the test when it did not.
Fault fault_of(const JobView& view, size_t index = 0);

// The step that a Sync's answer hands out; fails the test when there is none.
RunStep run_of(const std::optional<SyncReply>& reply);
// What the worker of a made-up step reports: the output that the step must leave, stored.
Outcome outcome_of(MemoryStore& store, const RunStep& run, StepTable table = steps());

}  // namespace enginery
