// The core with its driver over a store in memory, a clock that the test turns, and workers that
// the test speaks for.
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
  // The worker finishes the step as tests/coordinator's pretend() would, and hears what is next.
  std::optional<SyncReply> finish(const std::string& worker, const std::string& sku,
                                  const RunStep& run, const std::string& device = "");
  // The newest Sync answer that a worker got since it asked.
  std::optional<SyncReply> heard(const std::string& worker);
  // Signs what waits for a signature.
  void sign();

  MemoryStore store;
  const Core& core() const { return driver_->core(); }

 private:
  void flush();
  CoreOptions options_;
  Nanoseconds now_{std::chrono::seconds(100)};
  std::unique_ptr<QueueDriver> driver_;
  std::vector<Reply> answers_;
  std::vector<SignTask> signing_;
  std::map<std::string, uint64_t> sequences_;
  uint64_t next_id_ = 1;
};

// The step that a Sync's answer hands out; fails the test when there is none.
RunStep run_of(const std::optional<SyncReply>& reply);
Outcome outcome_of(MemoryStore& store, const RunStep& run);

}  // namespace enginery
