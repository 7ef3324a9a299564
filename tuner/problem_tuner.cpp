#include "tuner/problem_tuner.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "engine/base/clock.h"
#include "engine/base/parallel.h"
#include "engine/base/statistics.h"

namespace enginery {
namespace {

constexpr size_t kShortList = 3;
constexpr double kHopeless = 8;  // estimates are rough: only what is far off is pruned

// On an H200 the ratio of two tactics stays within 1 % in one lab and differs by up to 5 % between
// labs, by where buffers lie.
constexpr size_t kLabs = 4;
constexpr double kClose = 1.05;
constexpr size_t kMaxFinalists = 6;

// What a race in one lab cannot tell apart, the fastest first.
std::vector<size_t> finalists(const std::vector<std::vector<double>>& samples) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].empty()) order.emplace_back(median(samples[i]), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<size_t> out;
  for (const auto& [us, i] : order) {
    if (us <= kClose * order[0].first && out.size() < kMaxFinalists) out.push_back(i);
  }
  return out;
}

std::vector<const Tactic*> without_timing(std::vector<const Tactic*> tactics,
                                          const std::vector<Timing>& timings) {
  std::erase_if(tactics,
                [&](const Tactic* t) { return find_timing(timings, tactic_key(*t)) != nullptr; });
  return tactics;
}

Problem guard_problem() {
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

}  // namespace

double ProblemTimes::of(const std::string& tactic) const {
  const Timing* t = find_timing(timings, tactic);
  return t && t->failure.empty() ? t->statistics.median_us : kInfinity;
}

std::vector<const Tactic*> worth_measuring(const std::vector<Tactic>& offered, int level) {
  std::vector<const Tactic*> out;
  double best_estimate = kInfinity;
  for (const Tactic& t : offered) {
    if (t.estimated_us > 0) best_estimate = std::min(best_estimate, t.estimated_us);
  }
  for (const Tactic& t : offered) {
    bool hopeless = level < 4 && t.estimated_us > kHopeless * best_estimate;
    if (t.trust != Trust::reference && !hopeless) out.push_back(&t);
  }
  if (level <= 2 && out.size() > kShortList) out.resize(kShortList);
  if (out.empty()) {
    for (const Tactic& t : offered) out.push_back(&t);
  }
  return out;
}

ProblemTuner::ProblemTuner(Device& device, const TacticSources& sources, TimingStore& store,
                           const TunerOptions& options, TunerCounts& counts)
    : device_(device),
      sources_(sources),
      store_(store),
      options_(options),
      counts_(counts),
      device_key_(enginery::device_key(device.info())) {}

ProblemTuner::~ProblemTuner() = default;

Result<Lane> ProblemTuner::guard() {
  if (guard_) return *guard_;
  Problem problem = guard_problem();
  std::string key = problem.key();
  TRY(guard_tactics_, offer_all(sources_, problem, {Precision::fp32}));
  TRY(auto known, store_.find(device_key_, key));
  auto has_failed = [&](const std::string& name) {
    const Timing* t = find_timing(known, name);
    return t && !t->failure.empty();
  };
  TRY(guard_lab_, Lab::make(problem, device_, 7));
  std::string failures;
  for (const Tactic& tactic : guard_tactics_) {
    std::vector<Timing> results(1);
    results[0].tactic = tactic_key(tactic);
    if (has_failed(results[0].tactic)) continue;
    Status tried = attempt(key, tactic, results[0], [&]() -> Status {
      TRY(LabCandidate candidate,
          guard_lab_->prepare(*find_source(sources_, tactic.source), tactic));
      TRY(guard_, guard_lab_->lane(candidate));
      return {};
    });
    if (!tried.ok()) return give_up(key, results, tried.error());
    if (guard_) return *guard_;
    failures += "; " + results[0].tactic + ": " + results[0].failure;
  }
  if (full_) return *full_;
  return Error{ErrorCode::internal, "no tactic of the guard's problem runs" + failures};
}

bool ProblemTuner::lost_device(const Error& error) {
  if (error.code == ErrorCode::device_lost) return true;
  auto stream = device_.create_stream();
  Status answer = stream.ok() ? (*stream)->synchronize() : Status(stream.error());
  return !answer.ok() && answer.error().code == ErrorCode::device_lost;
}

DeviceState ProblemTuner::device_state() const {
  Measurer* measurer = device_.measurer();
  return measurer ? measurer->state() : DeviceState();
}

void ProblemTuner::record(Timing& timing, const DeviceState& state) const {
  SystemClock system;
  const Clock& clock = options_.clock ? *options_.clock : system;
  timing.worker = options_.worker;
  timing.unix_seconds = to_seconds(clock.wall_time());
  timing.state = state;
}

std::vector<const Tactic*> ProblemTuner::worth_timing(const std::vector<Tactic>& tactics) const {
  std::vector<const Tactic*> out = worth_measuring(tactics, options_.level);
  std::erase_if(out, [](const Tactic* t) { return t->view_of >= 0; });
  return out;
}

Result<std::vector<const Tactic*>> ProblemTuner::to_measure(
    const Problem& problem, const std::vector<Tactic>& tactics) const {
  if (options_.level < 2) return std::vector<const Tactic*>();
  const std::string key = problem.key();
  TRY(auto timings, store_.find(device_key_, key));
  std::vector<const Tactic*> missing = without_timing(worth_timing(tactics), timings);
  if (!missing.empty()) CHECK_OK(store_.admit_miss(device_key_, key, tactic_key(*missing[0])));
  return missing;
}

Result<ProblemTimes> ProblemTuner::time(const Problem& problem,
                                        const std::vector<Tactic>& tactics) {
  ProblemTimes out;
  out.us.assign(tactics.size(), kInfinity);
  std::string key = problem.key();
  TRY(out.timings, store_.find(device_key_, key));
  const std::vector<const Tactic*> wanted = worth_timing(tactics),
                                   missing = without_timing(wanted, out.timings);
  counts_.timings_reused += static_cast<int>(wanted.size() - missing.size());
  if (!missing.empty() && options_.level >= 2) {
    CHECK_OK(store_.admit_miss(device_key_, key, tactic_key(*missing[0])));
    CHECK_OK(measure(problem, key, missing));
    TRY(out.timings, store_.find(device_key_, key));
  }
  for (size_t i = 0; i < tactics.size(); ++i) {
    out.us[i] = tactics[i].view_of >= 0 ? 0 : out.of(tactic_key(tactics[i]));
  }
  return out;
}

Status ProblemTuner::attempt(const std::string& key, const Tactic& tactic, Timing& result,
                             const std::function<Status()>& steps) {
  if (tactic.trust == Trust::may_fault) options_.trial({device_key_, key, result.tactic, false});
  Status done = steps();
  if (tactic.trust == Trust::may_fault) options_.trial({device_key_, key, result.tactic, true});
  if (done.ok()) return {};
  result.failure = done.error().message;
  if (done.error().code ==
      ErrorCode::out_of_memory) {  // not the tactic's fault, and another time there may be room
    const std::lock_guard lock(full_mutex_);
    full_ = done.error();
    result.failure.clear();
    return {};
  }
  if (lost_device(done.error()))
    return Error{ErrorCode::device_lost, result.tactic + ": " + result.failure};
  return {};
}

Result<std::vector<LabCandidate>> ProblemTuner::prepare(const Lab& lab, const std::string& key,
                                                        const std::vector<const Tactic*>& tactics,
                                                        const Indices& which,
                                                        std::vector<Timing>& results) {
  std::vector<LabCandidate> out;
  for (size_t i : which) out.push_back({tactics[i], {}});
  std::mutex mutex;
  std::optional<Error> lost;
  auto prepare_one = [&](int64_t index) {
    LabCandidate& candidate = out[static_cast<size_t>(index)];
    const Tactic& tactic = *candidate.tactic;
    if (options_.cancelled()) return;
    Status prepared =
        attempt(key, tactic, results[which[static_cast<size_t>(index)]], [&]() -> Status {
          TRY(candidate, lab.prepare(*find_source(sources_, tactic.source), tactic));
          return {};
        });
    const std::lock_guard lock(mutex);
    if (!prepared.ok() && !lost) lost = prepared.error();
  };
  const auto count = static_cast<int64_t>(which.size());
  if (options_.one_by_one) {
    for (int64_t i = 0; i < count && !lost; ++i) prepare_one(i);
  } else {
    parallel_for(count, prepare_one);
  }
  if (!lost) return out;
  // Of several side by side any one may have done it: none is to blame yet.
  if (!options_.one_by_one && count > 1) return *lost;
  return give_up(key, results, *lost);
}

Result<std::vector<ProblemTuner::Entry>> ProblemTuner::enter(
    Lab& lab, const std::string& key, const std::vector<const Tactic*>& tactics,
    const Indices& which, std::vector<Timing>& results) {
  const TimedScope timed(counts_.preparing_s);
  TRY(std::vector<LabCandidate> candidates, prepare(lab, key, tactics, which, results));
  std::vector<Entry> out;
  for (size_t k = 0; k < which.size(); ++k) {
    if (options_.cancelled()) return Error{ErrorCode::cancelled, "tuning was cancelled"};
    if (candidates[k].copies.empty()) continue;
    Timing& result = results[which[k]];
    Status tried = attempt(key, *candidates[k].tactic, result, [&]() -> Status {
      TRY(result.error, lab.check(candidates[k]));
      TRY(Lane lane, lab.lane(candidates[k]));
      out.push_back({which[k], std::move(lane)});
      return {};
    });
    if (!result.failure.empty()) options_.log(result.tactic + " is rejected: " + result.failure);
    if (!tried.ok()) return give_up(key, results, tried.error());
  }
  return out;
}

Result<std::vector<LaneResult>> ProblemTuner::race_entries(const std::string& key,
                                                           const std::vector<Entry>& entries,
                                                           RaceRules rules,
                                                           std::vector<Timing>& results) {
  const TimedScope timed(counts_.racing_s);
  TRY(Lane guard_lane, guard());
  std::vector<Lane> lanes;
  for (const Entry& e : entries) lanes.push_back(e.lane);
  rules.cancelled = options_.cancelled;
  TRY(auto raced, race(lanes, guard_lane, rules));
  for (size_t i = 0; i < raced.size(); ++i) {
    Timing& t = results[entries[i].index];
    t.failure = raced[i].failure;
    t.guard_ratio = std::max(t.guard_ratio, raced[i].guard_ratio);
    if (raced[i].lost_device)
      return give_up(key, results, {ErrorCode::device_lost, t.tactic + ": " + t.failure});
  }
  return raced;
}

Status ProblemTuner::measure(const Problem& problem, const std::string& key,
                             const std::vector<const Tactic*>& missing) {
  full_.reset();
  CHECK_OK(guard());  // before the memory is full
  std::vector<std::unique_ptr<Lab>> labs(1);
  TRY(labs[0], Lab::make(problem, device_, options_.seed));
  std::vector<Timing> results(missing.size());
  for (size_t i = 0; i < missing.size(); ++i) results[i].tactic = tactic_key(*missing[i]);
  Indices all(missing.size());
  std::iota(all.begin(), all.end(), size_t{0});
  TRY(std::vector<Entry> entries, enter(*labs[0], key, missing, all, results));
  if (entries.empty() && full_) return *full_;
  TRY(auto raced, race_entries(key, entries, {}, results));
  std::vector<std::vector<double>> samples(missing.size());
  for (size_t i = 0; i < raced.size(); ++i)
    samples[entries[i].index] = std::move(raced[i].samples_us);
  const Indices close = labs[0]->places() > 1 ? finalists(samples) : Indices();
  while (close.size() > 1 && labs.size() < kLabs) {
    TRY(labs.emplace_back(), Lab::make(problem, device_, options_.seed));
    CHECK_OK(race_again(*labs.back(), key, missing, close, results, samples));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].failure.empty()) results[i].statistics = summarize(samples[i]);
  }
  return store_results(key, results);
}

Status ProblemTuner::race_again(Lab& lab, const std::string& key,
                                const std::vector<const Tactic*>& tactics, const Indices& close,
                                std::vector<Timing>& results,
                                std::vector<std::vector<double>>& samples) {
  TRY(std::vector<Entry> entries, enter(lab, key, tactics, close, results));
  if (entries.size() < close.size())
    return {};  // no memory for all of them, or one is wrong here: nothing to compare
  RaceRules to_the_end;
  to_the_end.first_drop = to_the_end.second_drop = kInfinity;
  TRY(auto raced, race_entries(key, entries, to_the_end, results));
  if (std::any_of(raced.begin(), raced.end(),
                  [](const LaneResult& r) { return !r.failure.empty(); }))
    return {};
  // As ratios to the one that was fastest at first: the device may be in another state now.
  const double scale = median(samples[close[0]]) / median(raced[0].samples_us);
  for (size_t k = 0; k < close.size(); ++k) {
    for (double us : raced[k].samples_us) samples[close[k]].push_back(us * scale);
  }
  return {};
}

Error ProblemTuner::give_up(const std::string& key, std::vector<Timing>& results,
                            const Error& error) {
  std::vector<Timing> failed;
  for (const Timing& t : results) {
    if (!t.failure.empty()) failed.push_back(t);
  }
  Status stored = store_results(key, failed);
  return stored.ok() ? error : stored.error();
}

Status ProblemTuner::store_results(const std::string& key, std::vector<Timing>& results) {
  const DeviceState state = device_state();  // asking takes milliseconds
  for (Timing& t : results) {
    if (t.failure.empty() && t.statistics.samples == 0) continue;  // it found no memory
    record(t, state);
    ++counts_.timings_measured;
    CHECK_OK(store_.put(device_key_, key, t));
  }
  return {};
}

}  // namespace enginery
