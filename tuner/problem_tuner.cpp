#include "tuner/problem_tuner.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "engine/base/parallel.h"
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
    CHECK_OK(measure({problem, key, missing, {}, {}}));
    TRY(out.timings, context_.find(key));
  }
  for (size_t i = 0; i < tactics.size(); ++i)
    out.us[i] = tactics[i].view_of >= 0 ? 0 : out.of(tactic_key(tactics[i]));
  return out;
}

Result<std::vector<PreparedCandidate>> ProblemTuner::prepare(const MeasurementFixture& fixture,
                                                             const Indices& which, Job& job) {
  std::vector<PreparedCandidate> out;
  for (const size_t i : which) out.push_back({job.tactics[i], {}});
  std::mutex mutex;
  std::optional<Error> lost;
  auto prepare_one = [&](int64_t index) {
    PreparedCandidate& candidate = out[static_cast<size_t>(index)];
    const Tactic& tactic = *candidate.tactic;
    if (context_.options().cancelled()) return;
    Timing& result = job.results[which[static_cast<size_t>(index)]];
    const Status prepared =
        context_.attempt(job.key, tactic, FailureKind::compile, result, [&]() -> Status {
          const TacticSource& source = *find_source(context_.sources(), tactic.source);
          TRY(candidate, fixture.prepare(source, tactic));
          return {};
        });
    const std::lock_guard lock(mutex);
    if (!prepared.ok() && !lost) lost = prepared.error();
  };
  const bool one_by_one = context_.options().one_by_one;
  const auto count = static_cast<int64_t>(which.size());
  if (one_by_one) {
    for (int64_t i = 0; i < count && !lost; ++i) prepare_one(i);
  } else {
    parallel_for(count, prepare_one);
  }
  if (!lost) return out;
  // Any of those that were prepared in parallel may have done it: no one is to blame yet.
  if (!one_by_one && count > 1) return *lost;
  return context_.give_up(job.key, job.results, *lost);
}

Status ProblemTuner::enter_one(MeasurementFixture& fixture, size_t index,
                               const PreparedCandidate& prepared, std::vector<Entry>& entries,
                               Job& job) {
  Timing& result = job.results[index];
  return context_.attempt(job.key, *prepared.tactic, FailureKind::launch, result, [&]() -> Status {
    TRY(const CheckedResult checked, fixture.check(prepared));
    if (!checked.rejected.empty()) {
      result.failure_kind = checked.kind;
      return Error{ErrorCode::internal, checked.rejected};
    }
    result.error = checked.relative_error;
    TRY(Candidate candidate, fixture.candidate(prepared));
    entries.push_back({index, std::move(candidate)});
    return {};
  });
}

Result<std::vector<ProblemTuner::Entry>> ProblemTuner::enter(MeasurementFixture& fixture,
                                                             const Indices& which, Job& job) {
  const TimedScope timed(context_.counts().preparing_s, context_.clock());
  TRY(const std::vector<PreparedCandidate> prepared, prepare(fixture, which, job));
  std::vector<Entry> out;
  for (size_t k = 0; k < which.size(); ++k) {
    if (context_.options().cancelled()) return Error{ErrorCode::cancelled, "tuning was cancelled"};
    if (prepared[k].copies.empty()) continue;
    const Status tried = enter_one(fixture, which[k], prepared[k], out, job);
    const Timing& result = job.results[which[k]];
    if (!result.failure.empty())
      context_.options().log(result.tactic + " is rejected: " + result.failure);
    if (!tried.ok()) return context_.give_up(job.key, job.results, tried.error());
  }
  return out;
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
    t.failure = raced[i].failure;
    t.failure_kind = raced[i].failure_kind;
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
  const uint64_t seed = context_.options().seed;
  std::vector<std::unique_ptr<MeasurementFixture>> fixtures(1);
  TRY(fixtures[0], MeasurementFixture::make(job.problem, device, seed));
  job.results.resize(job.tactics.size());
  job.samples.resize(job.tactics.size());
  for (size_t i = 0; i < job.tactics.size(); ++i)
    job.results[i].tactic = tactic_key(*job.tactics[i]);
  Indices all(job.tactics.size());
  std::iota(all.begin(), all.end(), size_t{0});
  TRY(const std::vector<Entry> entries, enter(*fixtures[0], all, job));
  if (entries.empty() && context_.out_of_memory()) return *context_.out_of_memory();
  TRY(auto raced, race_entries(entries, {}, job));
  for (size_t i = 0; i < raced.size(); ++i)
    job.samples[entries[i].index] = std::move(raced[i].samples_us);
  const Indices close = fixtures[0]->placements() > 1 ? finalists(job.samples) : Indices();
  while (close.size() > 1 && fixtures.size() < kFixtures) {
    TRY(fixtures.emplace_back(), MeasurementFixture::make(job.problem, device, seed));
    CHECK_OK(race_again(*fixtures.back(), close, job));
  }
  for (size_t i = 0; i < job.results.size(); ++i) {
    Timing& result = job.results[i];
    if (result.failure.empty()) result.statistics = summarize(job.samples[i]);
  }
  return context_.store(job.key, std::move(job.results));
}

Status ProblemTuner::race_again(MeasurementFixture& fixture, const Indices& close, Job& job) {
  TRY(const std::vector<Entry> entries, enter(fixture, close, job));
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
