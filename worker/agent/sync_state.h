// SyncState: what the agent says of itself and what it makes of the answers; the worker protocol
// without a network.
//
// Where: agent.cpp sends what it makes and carries out what it decides; tests drive it alone.
// Belongs to one thread.
#pragma once

#include <variant>

#include "schemas/messages.h"

namespace enginery {

// What the agent is to do after an answer.
struct StartStep {
  RunStep run;
};
struct StopStep {};
struct EndAgent {};
struct TestSelf {
  uint64_t number = 0;
};
using AgentTask = std::variant<std::monostate, StartStep, StopStep, EndAgent, TestSelf>;

class SyncState {
 public:
  // `self` holds the fields that stay: worker, incarnation, sku, device, ...
  explicit SyncState(SyncRequest self) : request_(std::move(self)) {}

  // A new Sync about the present state: a greater sequence number every time.
  const SyncRequest& next();
  // The latest, for repeating it.
  const SyncRequest& latest() const { return request_; }

  void start(const StepRef& ref) { request_.state = Running{ref, {}}; }
  void progress(const Progress& progress);
  void finish(Outcome outcome);
  // It takes no new work from now on, whatever the coordinator says.
  void prefer_idle() { request_.prefer_idle = stopping_ = true; }
  // A self-test has ended.
  void examined(uint64_t number, std::string problem);
  void health(std::string text) { request_.health = std::move(text); }
  void reading(const DeviceReading& reading) { request_.reading = reading; }

  bool idle() const { return std::holds_alternative<Idle>(request_.state); }
  bool finished() const { return std::holds_alternative<Finished>(request_.state); }

  // The answer to the latest Sync.
  AgentTask answered(const SyncReply& reply);

 private:
  SyncRequest request_;
  bool stopping_ = false;
};

}  // namespace enginery
