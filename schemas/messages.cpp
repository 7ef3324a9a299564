#include "schemas/messages.h"

#include <cstdio>
#include <random>

namespace enginery {

std::string RequestId::text() const {
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return digits;
}

RequestId make_request_id() {
  std::random_device device;
  const auto word = [&] { return (static_cast<uint64_t>(device()) << 32) | device(); };
  return {word(), word()};
}

Body::Body() = default;
Body::~Body() = default;
Body::Body(const Body&) = default;
Body::Body(Body&&) noexcept = default;
Body& Body::operator=(const Body&) = default;
Body& Body::operator=(Body&&) noexcept = default;

bool Body::operator==(const Body& other) const {
  return static_cast<const AnyMessage&>(*this) == static_cast<const AnyMessage&>(other);
}

Roles senders_of(const Body& body) {
#define ENGINERY_REQUEST(Struct, Arm, where, Answer, who) \
  if (std::holds_alternative<Struct>(body)) return RequestTraits<Struct>::kSenders;
#define ENGINERY_REPLY(Struct, Arm)
#include "schemas/messages.inc"
  return {};
}

const char* request_name(const Body& body) {
#define ENGINERY_REQUEST(Struct, Arm, where, Answer, who) \
  if (std::holds_alternative<Struct>(body)) return #Arm;
#define ENGINERY_REPLY(Struct, Arm)
#include "schemas/messages.inc"
  return "?";
}

const char* to_string(JobState state) {
  switch (state) {
    case JobState::submitted:
      return "submitted";
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* to_string(TargetState state) {
  switch (state) {
    case TargetState::queued:
      return "queued";
    case TargetState::running:
      return "running";
    case TargetState::done:
      return "done";
    case TargetState::failed:
      return "failed";
    case TargetState::cancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* to_string(Source source) {
  switch (source) {
    case Source::none:
      return "";
    case Source::built:
      return "built";
    case Source::cache:
      return "cache";
    case Source::joined:
      return "joined";
  }
  return "unknown";
}

const char* to_string(StepState state) {
  switch (state) {
    case StepState::waiting:
      return "waiting";
    case StepState::queued:
      return "queued";
    case StepState::leased:
      return "leased";
    case StepState::running:
      return "running";
    case StepState::committing:
      return "committing";
    case StepState::done:
      return "done";
    case StepState::failed:
      return "failed";
    case StepState::cancelled:
      return "cancelled";
    case StepState::quarantined:
      return "quarantined";
  }
  return "unknown";
}

const char* to_string(WorkerCondition condition) {
  switch (condition) {
    case WorkerCondition::idle:
      return "idle";
    case WorkerCondition::busy:
      return "busy";
    case WorkerCondition::draining:
      return "draining";
    case WorkerCondition::lost:
      return "lost";
    case WorkerCondition::quarantined:
      return "quarantined";
  }
  return "unknown";
}

const char* to_string(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::succeeded:
      return "succeeded";
    case OutcomeKind::failed:
      return "failed";
    case OutcomeKind::cancelled:
      return "cancelled";
    case OutcomeKind::worker_lost:
      return "worker_lost";
    case OutcomeKind::preempted:
      return "preempted";
    case OutcomeKind::back_pressure:
      return "back_pressure";
    case OutcomeKind::out_of_memory:
      return "out_of_memory";
    case OutcomeKind::storage:
      return "storage";
    case OutcomeKind::internal:
      return "internal";
    case OutcomeKind::partitioned:
      return "partitioned";
    case OutcomeKind::crashed:
      return "crashed";
    case OutcomeKind::input_gone:
      return "input_gone";
  }
  return "unknown";
}

}  // namespace enginery
