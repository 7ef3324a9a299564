#include "tests/sim/sim_worker.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

SimWorker::SimWorker(World& world, std::string name, std::string sku, std::string device)
    : world_(world), name_(std::move(name)), sku_(std::move(sku)), device_(std::move(device)) {}

void SimWorker::later(Nanoseconds delay, std::function<void()> action) {
  world_.at(delay,
            [this, life = life_, action = std::move(action)] { run_when_thawed(life, action); });
}

void SimWorker::run_when_thawed(uint64_t life, std::function<void()> action) {
  if (!alive_ || life != life_) return;
  if (frozen_until_ > world_.monotonic())
    return world_.at(frozen_until_ - world_.monotonic(),
                     [this, life, action] { run_when_thawed(life, action); });
  action();
}

void SimWorker::start() {
  ++life_;
  alive_ = true;
  sequence_ = 0;
  frozen_until_ = {};
  tuning_.reset();
  state_ = Idle{};
  sync();
}

void SimWorker::crash() {
  alive_ = false;
  ++world_.report().worker_crashes;
  world_.unlock_device(device_, name_);
  world_.at(world_.between(milliseconds(100), seconds(30)), [this] { start(); });
}

void SimWorker::sync() {
  if (world_.chance(world_.faults().worker_crash)) return crash();
  if (world_.chance(world_.faults().worker_freeze))
    frozen_until_ = world_.monotonic() + world_.between(seconds(1), seconds(60));
  ++sequence_;
  waiting_for_ = world_.request_id();
  answered_ = false;
  transmit(waiting_for_);
}

// Repeats until an answer to the newest Sync comes.
void SimWorker::transmit(RequestId request) {
  if (answered_ || request != waiting_for_) return;
  SyncRequest sync;
  sync.worker = name_;
  sync.incarnation = life_;
  sync.sequence = sequence_;
  sync.sku = sku_;
  sync.kind = "cpu";
  sync.toolchain = "t";
  sync.device = device_;
  sync.state = state_;
  sync.examined = examined_;
  world_.send_to_coordinator(name_, request, std::move(sync), name_);
  later(seconds(2), [this, request] { transmit(request); });
}

void SimWorker::hear(RequestId request, const Body& body) {
  run_when_thawed(life_, [this, request, body] {
    if (const auto* answer = std::get_if<ProblemTaken>(&body); answer && tuning_)
      return tuning_->hear(request, *answer);
    if (answered_ || request != waiting_for_) return;
    if (const auto* reply = std::get_if<SyncReply>(&body)) {
      answered_ = true;
      return obey(*reply);
    }
    // A storage error: the repetition asks again.
  });
}

void SimWorker::obey(const SyncReply& reply) {
  const auto ref = [&]() -> const StepRef* {
    if (const auto* running = std::get_if<Running>(&state_)) return &running->ref;
    if (const auto* finished = std::get_if<Finished>(&state_)) return &finished->ref;
    return nullptr;
  };
  if (const auto* run = std::get_if<RunStep>(&reply.desired)) {
    const bool again =
        ref() != nullptr && ref()->step == run->ref.step && ref()->epoch == run->ref.epoch;
    if (!again && !std::holds_alternative<Running>(state_)) begin(*run);
  } else if (std::holds_alternative<BeIdle>(reply.desired)) {
    if (std::holds_alternative<Finished>(state_)) state_ = Idle{};
  } else if (const auto* cancel = std::get_if<Cancel>(&reply.desired)) {
    if (std::holds_alternative<Running>(state_) && *ref() == cancel->ref)
      later(world_.between(milliseconds(10), seconds(2)), [this, stop = cancel->ref] {
        const auto* running = std::get_if<Running>(&state_);
        if (running != nullptr && running->ref == stop) become_idle();
      });
  } else if (const auto* exam = std::get_if<Examine>(&reply.desired)) {
    later(world_.between(milliseconds(10), seconds(2)),
          [this, number = exam->number] { examined_ = number; });
  } else if (std::holds_alternative<Exit>(reply.desired)) {
    return crash();
  }
  later(milliseconds(1), [this, request = waiting_for_] {
    if (answered_ && request == waiting_for_) sync();
  });
}

void SimWorker::become_idle() {
  world_.unlock_device(device_, name_);
  tuning_.reset();
  state_ = Idle{};
  sync();
}

void SimWorker::begin(const RunStep& run) {
  step_ = run;
  tuning_.reset();
  state_ = Running{run.ref, {}};
  later(milliseconds(1), [this] { work(); });
}

void SimWorker::work() {
  const auto* running = std::get_if<Running>(&state_);
  if (running == nullptr || !(running->ref == step_.ref)) return;
  const Step* step = find_step(step_.kind);
  const bool measuring = step != nullptr && step->needs == Needs::device_alone;
  if (measuring && !world_.lock_device(device_, name_))
    return later(milliseconds(200), [this] { work(); });
  if (step_.kind == "tune") return tune();
  const Nanoseconds time = world_.between(milliseconds(20), measuring ? seconds(8) : seconds(2));
  later(time, [this, ref = step_.ref] {
    const auto* now = std::get_if<Running>(&state_);
    if (now != nullptr && now->ref == ref) finish();
  });
  if (world_.coin(0.3))
    later(time / 2, [this, ref = step_.ref] {
      auto* now = std::get_if<Running>(&state_);
      if (now == nullptr || !(now->ref == ref)) return;
      now->progress = {"half", 1, 2, 0};
      sync();
    });
}

void SimWorker::tune() {
  SimTuning::Worker self{
      name_, life_,
      [this](Nanoseconds delay, std::function<void()> action) { later(delay, std::move(action)); },
      [this, ref = step_.ref] {
        const auto* now = std::get_if<Running>(&state_);
        if (now != nullptr && now->ref == ref) finish();
      }};
  tuning_ = std::make_shared<SimTuning>(world_, step_, std::move(self));
  tuning_->go_on();
}

void SimWorker::finish() {
  tuning_.reset();
  world_.unlock_device(device_, name_);
  if (world_.chance(world_.faults().worker_crash * 5)) return crash();
  state_ = Finished{step_.ref, outcome()};
  sync();
}

Outcome SimWorker::outcome() {
  Outcome outcome;
  if (world_.coin(0.02)) return {OutcomeKind::internal, {ErrorCode::internal, "broke"}, {}, {}, {}};
  if (world_.coin(0.01))
    return {OutcomeKind::preempted, {ErrorCode::cancelled, "walltime"}, {}, {}, {}};
  if (step_.key.bytes[0] % 32 == 7)
    return {OutcomeKind::failed, {ErrorCode::unsupported, "no such operator"}, {}, {}, {}};
  for (const NamedBlob& input : step_.inputs)
    if (!world_.store().has_blob(input.digest))
      return {OutcomeKind::input_gone, {ErrorCode::not_found, "an input is gone"}, {}, {}, {}};
  const auto add = [&](const std::string& name) {
    const std::string content = name + step_.key.hex() + std::to_string(step_.ref.epoch) + name_;
    const Digest digest = sha256(content);
    if (!world_.chance(world_.faults().worker_lies))
      world_.store().add_blob(digest, step_.ref.epoch, step_.ref.step);
    outcome.outputs.push_back({name, digest, content.size()});
  };
  if (step_.assistant > 0) return outcome;
  const std::string& left = needed_output(*find_step(step_.kind), step_.provisional);
  if (!left.empty()) add(left);
  if (step_.kind == "validate") outcome.facts = {{"structure", structure_of(step_.model)}};
  outcome.metrics = {{"timings_measured", 3}};
  return outcome;
}

}  // namespace enginery
