#include "tuner/measuring_context.h"

#include <algorithm>
#include <random>

#include "tuner/race/race_watch.h"
#include "tuner/timing/expiry.h"

namespace enginery {
namespace {

// Of its weights, which a sample takes in turn: every round of every race has two samples of it.
constexpr size_t kMaxProbeCopies = 4;

Problem probe_problem() {
  Problem p;
  Convolution conv;
  conv.strides = conv.dilations = conv.pads_begin = conv.pads_end = {1, 1};
  p.op = conv;
  p.anchor_inputs = 2;
  p.inputs.resize(2);
  p.inputs[0].type = {DataType::float32, {1, 64, 28, 28}};
  p.inputs[1].type = {DataType::float32, {64, 64, 3, 3}};
  p.inputs[1].constant = true;
  p.outputs.resize(1);
  p.outputs[0].type = {DataType::float32, {1, 64, 28, 28}};
  return p;
}

// 32 bits: a number of JSON holds them exactly, with what is added to it.
uint64_t fresh_seed() {
  return std::random_device()();
}

}  // namespace

void note_race(const CandidateResult& result, Timing& timing) {
  if (!result.failure.empty()) {
    timing.failure = result.failure;
    timing.failure_kind = result.failure_kind;
  }
  timing.probe_ratio = std::max(timing.probe_ratio, result.probe_ratio);
  timing.disturbed_samples += result.disturbed_samples;
  timing.state.throttle_bits |= result.throttle_bits;
  // Samples of later races are related to those of the first.
  if (timing.probe.us == 0) timing.probe.us = result.probe_us;
}

MeasuringContext::MeasuringContext(Device& device, const TacticSources& sources, TimingStore& store,
                                   const TunerOptions& options, TunerCounts& counts)
    : device_(device),
      sources_(sources),
      store_(store),
      options_(options),
      counts_(counts),
      clock_(options.clock ? *options.clock : system_clock_),
      device_key_(enginery::device_key(device.info())),
      seed_(options.seed ? *options.seed : fresh_seed()) {}

Result<std::vector<Timing>> MeasuringContext::find(const std::string& key) const {
  TRY(std::vector<Timing> timings, store_.find(device_key_, key));
  const double now = to_seconds(clock_.wall_time());
  std::erase_if(timings, [&](const Timing& t) {
    return is_due_again(t, now) && admit_miss(key, t.tactic).ok();
  });
  return timings;
}

Status MeasuringContext::admit_miss(const std::string& key, const std::string& tactic) const {
  return store_.admit_miss(device_key_, key, tactic);
}

Status MeasuringContext::store(const std::string& key, std::vector<Timing> timings) {
  Measurer* measurer = device_.measurer();
  // Asked once for all: it takes milliseconds.
  const DeviceState state = measurer ? measurer->state() : DeviceState();
  for (Timing& t : timings) {
    if (t.failure.empty() && t.statistics.samples == 0) continue;
    t.worker = options_.worker;
    t.unix_seconds = to_seconds(clock_.wall_time());
    const uint64_t throttled_in_race = t.state.throttle_bits;
    t.state = state;
    t.state.throttle_bits |= throttled_in_race;
    t.seed = seed_;
    if (t.probe.us > 0 && t.probe.tactic.empty()) t.probe.tactic = probe_tactic_;
    ++counts_.timings_measured;
    if (!t.failure.empty()) {
      ++counts_.rejected[t.failure_kind];
      TRY(const std::vector<Timing> known, store_.find(device_key_, key));
      t.attempts = failures_of(known, t.tactic) + 1;
    }
    CHECK_OK(store_.put(device_key_, key, t));
  }
  return {};
}

Error MeasuringContext::give_up(const std::string& key, const std::vector<Timing>& timings,
                                const Error& error) {
  std::vector<Timing> failed;
  for (const Timing& t : timings) {
    if (!t.failure.empty()) failed.push_back(t);
  }
  const Status stored = store(key, std::move(failed));
  return stored.ok() ? error : stored.error();
}

void MeasuringContext::in_flight(const std::string& key, const std::string& tactic,
                                 const std::function<void()>& steps) const {
  options_.in_flight({device_key_, key, tactic, false});
  steps();
  options_.in_flight({device_key_, key, tactic, true});
}

std::function<void(std::optional<size_t>, bool)> MeasuringContext::turns_in_flight(
    const std::string& key, std::vector<std::string> names) const {
  return [this, key, names = std::move(names)](std::optional<size_t> candidate, bool over) {
    if (candidate.has_value() != options_.one_by_one) return;
    if (candidate)
      options_.in_flight({device_key_, key, names[*candidate], over});
    else
      options_.in_flight({device_key_, "", "", over});
  };
}

Status MeasuringContext::attempt(const std::string& key, const Tactic& tactic, FailureKind stage,
                                 Timing& result, const std::function<Status()>& steps) {
  Status done;
  if (tactic.trust == Trust::may_fault)
    in_flight(key, result.tactic, [&] { done = steps(); });
  else
    done = steps();
  if (done.ok()) return {};
  // Another time there may be room.
  if (done.error().code == ErrorCode::out_of_memory) {
    const std::lock_guard lock(out_of_memory_mutex_);
    out_of_memory_ = done.error();
    return {};
  }
  result.failure = done.error().message;
  // Steps that know better than their stage have said so.
  if (result.failure_kind == FailureKind::unknown)
    result.failure_kind = failure_kind(done.error(), stage);
  if (!lost_device(done.error())) return {};
  result.failure_kind = FailureKind::fault;
  return Error{ErrorCode::device_lost, result.tactic + ": " + result.failure};
}

bool MeasuringContext::lost_device(const Error& error) {
  if (error.code == ErrorCode::device_lost) return true;
  auto stream = device_.create_stream();
  const Status answer = stream.ok() ? (*stream)->synchronize() : Status(stream.error());
  return !answer.ok() && answer.error().code == ErrorCode::device_lost;
}

Result<Candidate> MeasuringContext::probe() {
  if (probe_) return *probe_;
  const Problem problem = probe_problem();
  const std::string key = problem.key();
  TRY(probe_tactics_, offer_all(sources_, problem, {Precision::fp32}));
  TRY(const std::vector<Timing> known, find(key));
  TRY(probe_fixture_, MeasurementFixture::make(problem, device_, 7));
  std::string failures;
  for (const Tactic& tactic : probe_tactics_) {
    std::vector<Timing> results(1);
    results[0].tactic = tactic_key(tactic);
    const Timing* before = find_timing(known, results[0].tactic);
    if (before && !before->failure.empty()) continue;
    const Status tried = attempt(key, tactic, FailureKind::launch, results[0], [&]() -> Status {
      TRY(PreparedCandidate prepared,
          probe_fixture_->prepare(*find_source(sources_, tactic.source), tactic));
      prepared.copies.resize(std::min(prepared.copies.size(), kMaxProbeCopies));
      TRY(probe_, probe_fixture_->candidate(prepared));
      return {};
    });
    if (!tried.ok()) return give_up(key, results, tried.error());
    if (probe_) {
      probe_tactic_ = results[0].tactic;
      return *probe_;
    }
    failures += "; " + results[0].tactic + ": " + results[0].failure;
  }
  if (out_of_memory_) return *out_of_memory_;
  return Error{ErrorCode::internal, "no tactic of the probe's problem runs" + failures};
}

Result<std::vector<CandidateResult>> MeasuringContext::race_beside_probe(
    const std::string& what, const std::vector<Candidate>& candidates, RaceRules rules) {
  TRY(const Candidate control, probe());
  RaceWatch watch(device_.measurer());
  rules.cancelled = options_.cancelled;
  rules.throttling = [&] { return watch.since_last_time(); };
  rules.rest = [&] { watch.rest(); };
  TRY(auto raced, race(candidates, control, rules));
  int disturbed = 0;
  uint64_t bits = 0;
  for (const CandidateResult& r : raced) {
    disturbed = std::max(disturbed, r.disturbed_samples);
    bits |= r.throttle_bits;
  }
  if (disturbed > 0) {
    options_.log(what + ": " + std::to_string(disturbed) +
                 " rounds were timed while the device was "
                 "throttled (" +
                 throttle_text(bits) + "): their times are marked as disturbed");
  }
  return raced;
}

}  // namespace enginery
