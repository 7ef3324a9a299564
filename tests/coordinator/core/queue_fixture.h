// The queue by itself: no jobs, no chain, no sockets, and a clock that the test turns.
#pragma once

#include <gtest/gtest.h>

#include "coordinator/core/queue.h"

namespace enginery {

struct QueueTest : testing::Test {
  CoreOptions options;
  Queue queue{options};
  Nanoseconds now = std::chrono::seconds(100);
  Effects effects;  // of the latest event
  std::vector<Timer> timers;
  uint64_t sequence = 0;

  // Runs one event and checks the rules after it.
  template <typename Event>
  auto turn(Event event) {
    effects = {};
    Turn turn({now, now}, effects);
    auto result = event(turn);
    timers.insert(timers.end(), turn.timers.begin(), turn.timers.end());
    EXPECT_EQ(queue.check(), "");
    return result;
  }
  // Adds the row as a step that the waiter waits for.
  uint64_t add(StepRow row, const Waiter& waiter, const Share& share = {"client", 0}) {
    return turn([&](Turn& t) {
      row.job = waiter.job;
      const uint64_t id = queue.add(row, "key bytes", t);
      queue.join(id, waiter, share);
      queue.make_ready(id, t);
      return id;
    });
  }
  uint64_t add(StepKind kind, const std::string& key, const Waiter& waiter,
               const Share& share = {"client", 0}) {
    StepRow row;
    row.kind = kind;
    row.key = sha256(key);
    row.sku = "x";
    return add(row, waiter, share);
  }
  // A Sync of the worker's first process; the sequence grows by itself.
  SyncRequest request_of(const std::string& name, WorkerState state,
                         const std::string& device = "") {
    SyncRequest request;
    request.worker = name;
    request.incarnation = 1;
    request.sequence = ++sequence;
    request.sku = "x";
    request.device = device.empty() ? name : device;
    request.state = std::move(state);
    return request;
  }
  // Takes the Sync as it is; nothing is answered yet.
  StepEvent take(const SyncRequest& request, const std::vector<Digest>& missing = {}) {
    return turn([&](Turn& t) {
      const WorkerNo worker = queue.worker_of(request, t);
      queue.update(worker, request, t);
      return queue.heed(worker, missing, t);
    });
  }
  StepEvent sync(const std::string& name, WorkerState state, const std::string& device = "") {
    return take(request_of(name, std::move(state), device));
  }
  std::optional<Lease> lease() {
    return turn([&](Turn& t) { return queue.lease_next(t); });
  }
  // Makes the step ready once its back-off is over.
  void after_back_off(uint64_t step) {
    now = std::max(now, queue.step(step).retry_at);
    turn([&](Turn& t) {
      queue.make_ready(step, t);
      return 0;
    });
  }
  StepRef ref_of(uint64_t step) const { return {"j1", step, queue.step(step).row.epoch}; }
  const StepRow& row(uint64_t step) const { return queue.step(step).row; }
  WorkerNo number_of(const std::string& worker) const {
    return queue.worker_named(worker).value_or(UINT32_MAX);
  }
};

// What a worker says whose attempt ended so.
inline Finished ended(const StepRef& ref, OutcomeKind kind, const std::string& message = "why") {
  return {ref, {kind, {ErrorCode::internal, message}, {}, {}, {}}};
}

// The rows of one kind among an event's effects.
template <typename Row>
std::vector<Row> rows_of(const Effects& effects) {
  std::vector<Row> out;
  for (const RowChange& change : effects.rows)
    if (const Row* row = std::get_if<Row>(&change)) out.push_back(*row);
  return out;
}

}  // namespace enginery
