#include "tuner/problem_tuner.h"

#include <algorithm>
#include <numeric>

#include "engine/base/statistics.h"

namespace enginery {
namespace {

constexpr size_t kShortList = 3;
constexpr double kHopeless = 8;  // estimates are rough: only what is far off is pruned

// On an H200 the ratio of two tactics stays within 1 % in one fixture and differs by up to 5 %
// between fixtures, by where buffers lie.
constexpr size_t kFixtures = 4;
constexpr double kClose = 1.05;
constexpr size_t kMaxFinalists = 6;

// What a race in one fixture cannot tell apart, the fastest first.
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
    const bool hopeless = level < 4 && t.estimated_us > kHopeless * best_estimate;
    if (t.trust != Trust::reference && !hopeless) out.push_back(&t);
  }
  if (level <= 2 && out.size() > kShortList) out.resize(kShortList);
  if (out.empty()) {
    for (const Tactic& t : offered) out.push_back(&t);
  }
  return out;
}

// Views are left out: they take no time.
std::vector<const Tactic*> ProblemTuner::worth_timing(const std::vector<Tactic>& tactics) const {
  std::vector<const Tactic*> out = worth_measuring(tactics, context_.options().level);
  std::erase_if(out, [](const Tactic* t) { return t->view_of >= 0; });
  return out;
}

Result<std::vector<const Tactic*>> ProblemTuner::to_measure(
    const Problem& problem, const std::vector<Tactic>& tactics) const {
  if (context_.options().level < 2) return std::vector<const Tactic*>();
  const std::string key = problem.key();
  TRY(const std::vector<Timing> timings, context_.find(key));
  std::vector<const Tactic*> missing = without_timing(worth_timing(tactics), timings);
  if (!missing.empty()) CHECK_OK(context_.admit_miss(key, tactic_key(*missing[0])));
  return missing;
}

Result<ProblemTimes> ProblemTuner::time(const Problem& problem,
                                        const std::vector<Tactic>& tactics) {
  ProblemTimes out;
  out.us.assign(tactics.size(), kInfinity);
  const std::string key = problem.key();
  TRY(out.timings, context_.find(key));
  const std::vector<const Tactic*> wanted = worth_timing(tactics);
  const std::vector<const Tactic*> missing = without_timing(wanted, out.timings);
  context_.counts().timings_reused += static_cast<int>(wanted.size() - missing.size());
  if (!missing.empty() && context_.options().level >= 2) {
    CHECK_OK(context_.admit_miss(key, tactic_key(*missing[0])));
    CHECK_OK(measure({problem, key, missing, {}, {}, {}}));
    TRY(out.timings, context_.find(key));
  }
  for (size_t i = 0; i < tactics.size(); ++i)
    out.us[i] = tactics[i].view_of >= 0 ? 0 : out.of(tactic_key(tactics[i]));
  return out;
}

Result<std::vector<PreparedCandidate>> ProblemTuner::prepare(const MeasurementFixture& fixture,
                                                             const Indices& which, Job& job) {
  const TimedScope timed(context_.counts().preparing_s, context_.clock());
  std::vector<PreparedCandidate> out(which.size());
  CHECK_OK(ProblemGate(context_, job).prepare(which, [&](size_t k) -> Status {
    const Tactic& tactic = *job.tactics[which[k]];
    TRY(out[k], fixture.prepare(*find_source(context_.sources(), tactic.source), tactic));
    return {};
  }));
  return out;
}

Status ProblemTuner::check(MeasurementFixture& fixture,
                           const std::vector<PreparedCandidate>& prepared, const Indices& which,
                           Job& job) {
  const TimedScope timed(context_.counts().checking_s, context_.clock());
  ProblemGate gate(context_, job);
  for (size_t k = 0; k < which.size(); ++k) {
    if (context_.options().cancelled()) return Error{ErrorCode::cancelled, "tuning was cancelled"};
    if (!prepared[k].copies.empty())
      CHECK_OK(gate.check(which[k], [&] { return fixture.check(prepared[k]); }));
    else
      job.out_of_room[which[k]] = true;
  }
  return {};
}

Result<std::vector<ProblemTuner::Entry>> ProblemTuner::candidates(
    MeasurementFixture& fixture, const std::vector<PreparedCandidate>& prepared,
    const Indices& which, Job& job) {
  const TimedScope timed(context_.counts().preparing_s, context_.clock());
  std::vector<Entry> out;
  for (size_t k = 0; k < which.size(); ++k) {
    if (job.is_out(which[k])) continue;
    Timing& result = job.results[which[k]];
    const Status made = context_.attempt(job.key, *prepared[k].tactic, FailureKind::launch, result,
                                         [&]() -> Status {
                                           TRY(Candidate candidate, fixture.candidate(prepared[k]));
                                           out.push_back({which[k], std::move(candidate)});
                                           return {};
                                         });
    if (!made.ok()) return context_.give_up(job.key, job.results, made.error());
  }
  return out;
}

Result<std::vector<ProblemTuner::Entry>> ProblemTuner::enter(MeasurementFixture& fixture,
                                                             const Indices& which, Gate gate,
                                                             Job& job) {
  TRY(const std::vector<PreparedCandidate> prepared, prepare(fixture, which, job));
  CHECK_OK(check(fixture, prepared, which, job));
  if (gate == Gate::whole) CHECK_OK(ProblemGate(context_, job).pass_probes(which));
  return candidates(fixture, prepared, which, job);
}

Result<std::vector<CandidateResult>> ProblemTuner::race_entries(const std::vector<Entry>& entries,
                                                                RaceRules rules, Job& job) {
  const TimedScope timed(context_.counts().racing_s, context_.clock());
  TRY(const Candidate probe, context_.probe());
  std::vector<Candidate> candidates;
  for (const Entry& e : entries) candidates.push_back(e.candidate);
  rules.cancelled = context_.options().cancelled;
  TRY(auto raced, race(candidates, probe, rules));
  for (size_t i = 0; i < raced.size(); ++i) {
    Timing& t = job.results[entries[i].index];
    if (!raced[i].failure.empty()) {
      t.failure = raced[i].failure;
      t.failure_kind = raced[i].failure_kind;
    }
    t.probe_ratio = std::max(t.probe_ratio, raced[i].probe_ratio);
    if (raced[i].lost_device()) {
      return context_.give_up(job.key, job.results,
                              {ErrorCode::device_lost, t.tactic + ": " + t.failure});
    }
  }
  return raced;
}

Status ProblemTuner::measure(Job job) {
  context_.forget_out_of_memory();
  CHECK_OK(context_.probe());  // before the memory is full
  Device& device = context_.device();
  std::vector<std::unique_ptr<MeasurementFixture>> fixtures(1);
  TRY(fixtures[0], MeasurementFixture::make(job.problem, device, context_.seed()));
  job.results.resize(job.tactics.size());
  job.samples.resize(job.tactics.size());
  job.out_of_room.resize(job.tactics.size());
  for (size_t i = 0; i < job.tactics.size(); ++i)
    job.results[i].tactic = tactic_key(*job.tactics[i]);
  Indices all(job.tactics.size());
  std::iota(all.begin(), all.end(), size_t{0});
  TRY(const std::vector<Entry> entries, enter(*fixtures[0], all, Gate::whole, job));
  if (entries.empty() && context_.out_of_memory()) return *context_.out_of_memory();
  TRY(auto raced, race_entries(entries, {}, job));
  for (size_t i = 0; i < raced.size(); ++i)
    job.samples[entries[i].index] = std::move(raced[i].samples_us);
  Indices close = fixtures[0]->placements() > 1 ? finalists(job.samples) : Indices();
  while (close.size() > 1 && fixtures.size() < kFixtures) {
    const uint64_t seed = context_.seed() + fixtures.size();
    TRY(fixtures.emplace_back(), MeasurementFixture::make(job.problem, device, seed));
    CHECK_OK(race_again(*fixtures.back(), close, job));
    // What was wrong once is out for good.
    std::erase_if(close, [&](size_t i) { return !job.results[i].failure.empty(); });
  }
  CHECK_OK(ProblemGate(context_, job).confirm_winners());
  for (size_t i = 0; i < job.results.size(); ++i) {
    if (!job.is_out(i)) job.results[i].statistics = summarize(job.samples[i]);
  }
  return context_.store(job.key, std::move(job.results));
}

Status ProblemTuner::race_again(MeasurementFixture& fixture, const Indices& close, Job& job) {
  TRY(const std::vector<Entry> entries, enter(fixture, close, Gate::one_probe, job));
  // No memory for all of them, or one is wrong here: there is nothing to compare.
  if (entries.size() < close.size()) return {};
  RaceRules to_the_end;
  to_the_end.first_drop = to_the_end.second_drop = kInfinity;
  TRY(auto raced, race_entries(entries, to_the_end, job));
  if (std::any_of(raced.begin(), raced.end(),
                  [](const CandidateResult& r) { return !r.failure.empty(); }))
    return {};
  // As ratios to the one that was fastest at first: the device may be in another state now.
  const double scale = median(job.samples[close[0]]) / median(raced[0].samples_us);
  for (size_t k = 0; k < close.size(); ++k) {
    for (const double us : raced[k].samples_us) job.samples[close[k]].push_back(us * scale);
  }
  return {};
}

}  // namespace enginery
