#include "worker/agent/sync_state.h"

namespace enginery {
namespace {

const StepRef* ref_of(const WorkerState& state) {
  if (const auto* running = std::get_if<Running>(&state)) return &running->ref;
  return nullptr;
}

}  // namespace

const SyncRequest& SyncState::next() {
  ++request_.sequence;
  return request_;
}

void SyncState::progress(const Progress& progress) {
  if (auto* running = std::get_if<Running>(&request_.state)) running->progress = progress;
}

void SyncState::finish(Outcome outcome) {
  const StepRef* ref = ref_of(request_.state);
  if (ref) request_.state = Finished{*ref, std::move(outcome)};
}

void SyncState::examined(uint64_t number, std::string problem) {
  request_.examined = number;
  request_.exam_problem = std::move(problem);
}

AgentTask SyncState::answered(const SyncReply& reply) {
  const StepRef* running = ref_of(request_.state);
  if (std::holds_alternative<Exit>(reply.desired)) return EndAgent{};
  if (std::holds_alternative<Drain>(reply.desired)) {
    request_.prefer_idle = true;
    return {};
  }
  if (std::holds_alternative<Resume>(reply.desired)) {
    request_.prefer_idle = stopping_;
    return {};
  }
  if (const auto* run = std::get_if<RunStep>(&reply.desired)) {
    // A running step is told to end before another begins; the coordinator offers that one again.
    if (running) return *running == run->ref ? AgentTask() : AgentTask(StopStep{});
    request_.state = Idle{};
    return StartStep{*run};
  }
  if (running) {
    const auto* cancel = std::get_if<Cancel>(&reply.desired);
    const bool stop =
        (cancel && cancel->ref == *running) || std::holds_alternative<BeIdle>(reply.desired);
    return stop ? AgentTask(StopStep{}) : AgentTask();
  }
  const bool accepted = !std::holds_alternative<Keep>(reply.desired);
  if (finished() && accepted) request_.state = Idle{};
  if (const auto* exam = std::get_if<Examine>(&reply.desired))
    if (exam->number != request_.examined) return TestSelf{exam->number};
  return {};
}

}  // namespace enginery
