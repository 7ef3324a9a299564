#include "tests/sim/sim_worker.h"

namespace enginery {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Between an order to stop and the end of the step; what the specification allows, and some more.
constexpr Nanoseconds kStopsWithin = seconds(2), kMustHaveStopped = seconds(4);

}  // namespace

SimWorker::SimWorker(World& world, SimWorkerOptions options)
    : world_(world), options_(std::move(options)) {}

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

void SimWorker::later_in_step(Nanoseconds delay, std::function<void()> action) {
  later(delay, [this, run = run_, action = std::move(action)] {
    if (runs() && run == run_) action();
  });
}

// --- life and death

void SimWorker::start() {
  if (options_.intruder && !world_.faulty()) return;
  count_kills(true);
  counted_.clear();
  ++life_;
  alive_ = true;
  frozen_until_ = {};
  stopping_ = examining_ = false;
  SyncRequest self;
  self.worker = options_.name;
  self.incarnation = static_cast<uint64_t>(world_.wall_time().count());
  self.sku = options_.sku;
  self.kind = "cpu";
  self.toolchain = options_.toolchain;
  self.device = options_.device;
  state_ = SyncState(std::move(self));
  sync();
}

// The coordinator cannot know whether a step that it leased had begun: it counts as well. A new
// life ends whatever was leased to the name: to this one since it died, or to another of the name,
// which may be a later attempt at the step that this one died with.
void SimWorker::count_kills(bool of_any_life) {
  std::map<Attempt, Digest> ended;
  if (runs()) ended[{running_->ref.step, running_->ref.epoch}] = running_->key;
  for (const auto& [id, step] : world_.disk().rows().steps)
    if (step.worker == options_.name &&
        (of_any_life || step.incarnation == state_.latest().incarnation))
      ended[{id, step.epoch}] = step.key;
  for (const auto& [attempt, key] : ended)
    if (counted_.insert(attempt).second) ++world_.harm(key).kills;
}

void SimWorker::end_life() {
  count_kills(false);
  alive_ = false;
  tuning_.reset();
  running_.reset();
  world_.unlock_device(options_.device, options_.route);
  const Nanoseconds pause = world_.between(milliseconds(100), seconds(30));
  world_.trouble_until(world_.monotonic() + pause);
  world_.at(pause, [this] { start(); });
}

// Killed, with what it runs.
void SimWorker::die() {
  ++world_.report().worker_crashes;
  end_life();
}

// A supervisor stops it: it takes no new work, reports its step and leaves.
void SimWorker::leave() {
  if (std::exchange(stopping_, true)) return;
  ++world_.report().worker_stops;
  state_.prefer_idle();
  if (runs()) stop_step(OutcomeKind::preempted);
  later(seconds(12), [this] { end_life(); });
  sync();
}

// --- the protocol

void SimWorker::sync() {
  if (options_.intruder && !world_.faulty()) return die();
  const Faults& faults = world_.faults();
  if (world_.chance(faults.worker_crash)) return die();
  if (world_.chance(faults.worker_freeze)) {
    frozen_until_ = world_.monotonic() + world_.between(seconds(1), seconds(60));
    world_.trouble_until(frozen_until_);
  }
  state_.next();
  waiting_for_ = world_.request_id();
  answered_ = false;
  transmit(waiting_for_);
}

// Repeats until an answer to the newest Sync comes.
void SimWorker::transmit(RequestId request) {
  if (answered_ || request != waiting_for_) return;
  world_.send_to_coordinator({options_.route, options_.device}, request, state_.latest(),
                             options_.name);
  later(seconds(2), [this, request] { transmit(request); });
}

void SimWorker::hear(RequestId request, const Body& body) {
  run_when_thawed(life_, [this, request, body] {
    if (const auto* answer = std::get_if<ProblemTaken>(&body); answer && tuning_)
      return tuning_->hear(request, *answer);
    if (answered_ || request != waiting_for_) return;
    const auto* reply = std::get_if<SyncReply>(&body);
    if (reply == nullptr) return;  // a storage error: the repetition asks again
    answered_ = true;
    obey(*reply);
  });
}

void SimWorker::obey(const SyncReply& reply) {
  // What the agent must make of it, whatever SyncState says.
  if (const auto* cancel = std::get_if<Cancel>(&reply.desired);
      cancel != nullptr && runs() && running_->ref == cancel->ref)
    later_in_step(kMustHaveStopped, [this] {
      world_.broken(options_.name + " still runs a step long after it was cancelled");
    });
  const AgentTask task = state_.answered(reply);
  if (const auto* start = std::get_if<StartStep>(&task)) {
    begin(start->run);
  } else if (std::holds_alternative<StopStep>(task)) {
    stop_step(OutcomeKind::cancelled);
  } else if (const auto* test = std::get_if<TestSelf>(&task)) {
    if (!std::exchange(examining_, true))
      later(world_.between(milliseconds(10), seconds(2)), [this, number = test->number] {
        examining_ = false;
        state_.examined(number, "");
        sync();
      });
  } else if (std::holds_alternative<EndAgent>(task)) {
    return end_life();
  }
  if (stopping_ && state_.idle()) return end_life();
  later(milliseconds(1), [this, request = waiting_for_] {
    if (answered_ && request == waiting_for_) sync();
  });
}

// --- steps

void SimWorker::begin(const RunStep& run) {
  if (stopping_) return;
  running_ = run;
  tuning_.reset();
  ++run_;
  state_.start(run.ref);
  later_in_step(milliseconds(1), [this] { work(); });
  sync();
}

void SimWorker::work() {
  const Step* step = find_step(running_->kind);
  const bool measuring = step != nullptr && step->needs == Needs::device_alone;
  if (measuring && !world_.lock_device(options_.device, options_.route))
    return later_in_step(milliseconds(200), [this] { work(); });
  if (running_->kind == "tune") return tune();
  const Nanoseconds time = world_.between(milliseconds(20), measuring ? seconds(3) : seconds(1));
  later_in_step(time, [this] {
    if (world_.chance(world_.faults().worker_crash * 5)) return die();
    finish(outcome());
  });
  if (world_.coin(0.3))
    later_in_step(time / 2, [this] {
      state_.progress({"half", 1, 2, 0});
      sync();
    });
  if (world_.chance(world_.faults().worker_stops)) later(time / 3, [this] { leave(); });
}

void SimWorker::tune() {
  SimTuning::Worker self{
      options_.name,
      {options_.route, options_.device},
      state_.latest().incarnation,
      [this](Nanoseconds delay, std::function<void()> action) { later(delay, std::move(action)); },
      [this, run = run_] {
        if (!runs() || run != run_) return;
        if (world_.chance(world_.faults().worker_crash * 5)) return die();
        finish(outcome());
      }};
  tuning_ = std::make_shared<SimTuning>(world_, *running_, std::move(self));
  tuning_->go_on();
}

void SimWorker::stop_step(OutcomeKind how) {
  if (!runs()) return;
  later_in_step(world_.between(milliseconds(10), kStopsWithin), [this, how] {
    finish({how, {ErrorCode::cancelled, "stopped"}, {}, {}, {}});
  });
}

void SimWorker::finish(Outcome end) {
  world_.unlock_device(options_.device, options_.route);
  tuning_.reset();
  running_.reset();
  state_.finish(std::move(end));
  sync();
}

// The faults of a step that its worker survives.
std::optional<Outcome> SimWorker::trouble() {
  const Faults& faults = world_.faults();
  Harm& harm = world_.harm(running_->key);
  const auto ends = [](OutcomeKind kind, ErrorCode code, const char* message) {
    return Outcome{kind, {code, message}, {}, {}, {}};
  };
  if (world_.chance(faults.internal)) {
    ++harm.internal;
    return ends(OutcomeKind::internal, ErrorCode::internal, "broke");
  }
  if (world_.chance(faults.runner_dies)) {
    ++harm.kills;
    return ends(OutcomeKind::crashed, ErrorCode::internal, "the runner died of signal 11");
  }
  if (world_.chance(faults.out_of_memory)) {
    ++harm.out_of_memory;
    return ends(OutcomeKind::out_of_memory, ErrorCode::out_of_memory, "no memory");
  }
  if (world_.chance(faults.worker_disk)) {
    ++harm.storage;
    return ends(OutcomeKind::storage, ErrorCode::storage, "no space left on the worker");
  }
  if (world_.chance(faults.back_pressure))
    return ends(OutcomeKind::back_pressure, ErrorCode::unavailable, "too much at once");
  if (world_.chance(faults.preempted))
    return ends(OutcomeKind::preempted, ErrorCode::cancelled, "walltime");
  if (world_.chance(faults.stops_itself))
    return ends(OutcomeKind::cancelled, ErrorCode::cancelled, "interrupted");
  return std::nullopt;
}

Outcome SimWorker::outcome() {
  if (auto ended = trouble()) return std::move(*ended);
  if (fails_for_good(running_->key))
    return {OutcomeKind::failed, {ErrorCode::unsupported, "no such operator"}, {}, {}, {}};
  std::vector<Digest> inputs{running_->model};
  for (const NamedBlob& input : running_->inputs) inputs.push_back(input.digest);
  for (const Digest& input : inputs) {
    const Status fetched = world_.disk().fetch(input);
    if (fetched.ok()) continue;
    if (input == running_->model) ++world_.harm(running_->key).model_gone;
    return {OutcomeKind::input_gone, {fetched.error().code, fetched.error().message}, {}, {}, {}};
  }
  Outcome outcome;
  if (running_->assistant > 0) return outcome;
  const std::string& left = needed_output(*find_step(running_->kind), running_->provisional);
  if (!left.empty()) {
    const std::string content =
        left + running_->key.hex() + std::to_string(running_->ref.epoch) + options_.route;
    Digest digest = sha256(content);
    if (world_.chance(world_.faults().worker_lies))
      ++world_.harm(running_->key).internal;
    else
      digest = world_.disk().add_blob(content, running_->ref.epoch, running_->ref.step);
    outcome.outputs.push_back({left, digest, content.size()});
  }
  if (running_->kind == "validate") outcome.facts = {{"structure", structure_of(running_->model)}};
  outcome.metrics = {{"timings_measured", 3}};
  return outcome;
}

}  // namespace enginery
