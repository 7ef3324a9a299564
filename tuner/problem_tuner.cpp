#include "tuner/problem_tuner.h"

#include <algorithm>
#include <numeric>

#include "engine/base/statistics.h"
#include "tuner/anchors.h"
#include "tuner/effort/worth_measuring.h"

namespace enginery {
namespace {

// On an H200 the ratio of two tactics stays within 1 % in one fixture and differs by up to 5 %
// between fixtures, by where buffers lie.
constexpr double kClose = 1.05;
constexpr size_t kMaxFinalists = 6, kMaxColdFinalists = 4;

// Of all launches of a race, beyond which only the least samples are taken: a sample of a layer of
// milliseconds is the mean of several launches, each longer than what disturbs it.
constexpr double kMaxRaceUs = 1.5e6;
constexpr size_t kLeastSamples = 15;

RaceRules rules_for(const Effort& effort, size_t candidates) {
  RaceRules out;
  out.final_samples = effort.final_samples;
  out.precise = effort.precise;
  out.max_us = kMaxRaceUs;
  out.least_samples = kLeastSamples;
  // Nothing to tell apart.
  if (candidates == 1) out.max_extra_rounds = 0;
  return out;
}

RaceRules without_drops() {
  RaceRules out;
  out.first_drop = out.second_drop = kInfinity;
  out.max_us = kMaxRaceUs;
  out.least_samples = kLeastSamples;
  return out;
}

// Few: a cold launch takes a sweep of the caches besides.
RaceRules cold_rules() {
  RaceRules out = without_drops();
  out.first_samples = out.second_samples = out.final_samples = 4;
  out.max_extra_rounds = 24;
  return out;
}

// What a race in one fixture cannot tell apart, the fastest first.
TacticIndices finalists(const ProblemJob& job) {
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < job.samples.size(); ++i) {
    if (!job.is_out(i) && !job.samples[i].empty()) order.emplace_back(median(job.samples[i]), i);
  }
  std::sort(order.begin(), order.end());
  TacticIndices out;
  for (const auto& [us, i] : order) {
    if (us <= kClose * order[0].first && out.size() < kMaxFinalists) out.push_back(i);
  }
  return out;
}

// Those without a timing that can be compared with others'.
std::vector<const Tactic*> without_timing(std::vector<const Tactic*> tactics,
                                          const std::vector<Timing>& timings) {
  const ProbeTime probe = common_probe(timings);
  std::erase_if(tactics, [&](const Tactic* t) {
    const Timing* timing = find_timing(timings, tactic_key(*t));
    return timing && !is_unrelated(*timing, probe);
  });
  return tactics;
}

// The rest of the tactics; views are no way around others.
std::vector<const Tactic*> without(const std::vector<Tactic>& tactics,
                                   const std::vector<const Tactic*>& left_out) {
  std::vector<const Tactic*> out;
  for (const Tactic& t : tactics) {
    const bool left = std::find(left_out.begin(), left_out.end(), &t) != left_out.end();
    if (!left && t.view_of < 0) out.push_back(&t);
  }
  return out;
}

}  // namespace

double ProblemTimes::of(const std::string& tactic) const {
  const Timing* t = find_timing(timings, tactic);
  return t ? comparable_us(timings)[static_cast<size_t>(t - timings.data())] : kInfinity;
}

// Views are left out: they take no time.
std::vector<const Tactic*> ProblemTuner::worth_timing(const std::vector<Tactic>& tactics,
                                                      const Effort& effort) const {
  std::vector<const Tactic*> out = worth_measuring(tactics, context_.options().level, effort);
  std::erase_if(out, [](const Tactic* t) { return t->view_of >= 0; });
  return out;
}

Result<std::vector<const Tactic*>> ProblemTuner::to_measure(const Problem& problem,
                                                            const std::vector<Tactic>& tactics,
                                                            const Effort& effort) const {
  if (context_.options().level < 2) return std::vector<const Tactic*>();
  const std::string key = problem.key();
  TRY(const std::vector<Timing> timings, context_.find(key));
  const std::vector<const Tactic*> wanted = worth_timing(tactics, effort);
  std::vector<const Tactic*> missing = without_timing(wanted, timings);
  if (missing.empty()) return missing;
  CHECK_OK(context_.admit_miss(key, tactic_key(*missing[0])));
  for (const Tactic* anchor : anchors_among(wanted, timings)) missing.push_back(anchor);
  return missing;
}

Status ProblemTuner::measure_missing(const Problem& problem, const std::string& key,
                                     const std::vector<const Tactic*>& wanted, const Effort& effort,
                                     const std::vector<Timing>& known) {
  ProblemJob job{problem, key, without_timing(wanted, known), effort};
  CHECK_OK(context_.admit_miss(key, tactic_key(*job.tactics[0])));
  job.known.resize(job.tactics.size());
  for (const Tactic* anchor : anchors_among(wanted, known)) {
    job.tactics.push_back(anchor);
    job.known.push_back(find_timing(known, tactic_key(*anchor)));
  }
  TRY(const bool related, measure(std::move(job)));
  if (related) return {};
  // Nothing relates what is known to the device as it is: it is measured anew.
  TRY(const std::vector<Timing> now_known, context_.find(key));
  ProblemJob all{problem, key, wanted, effort};
  std::erase_if(all.tactics, [&](const Tactic* t) {
    const Timing* timing = find_timing(now_known, tactic_key(*t));
    return timing && !timing->failure.empty();
  });
  if (all.tactics.empty()) return {};
  all.known.resize(all.tactics.size());
  TRY([[maybe_unused]] const bool stored, measure(std::move(all)));
  return {};
}

Result<ProblemTimes> ProblemTuner::time(const Problem& problem, const std::vector<Tactic>& tactics,
                                        const Effort& effort) {
  ProblemTimes out;
  out.us.assign(tactics.size(), kInfinity);
  const std::string key = problem.key();
  TRY(out.timings, context_.find(key));
  const std::vector<const Tactic*> wanted = worth_timing(tactics, effort);
  CHECK_OK(time_missing(problem, key, wanted, effort, out.timings));
  const bool all_failed = std::all_of(wanted.begin(), wanted.end(), [&](const Tactic* t) {
    const Timing* timing = find_timing(out.timings, tactic_key(*t));
    return timing && !timing->failure.empty();
  });
  if (all_failed)
    CHECK_OK(time_missing(problem, key, without(tactics, wanted), effort, out.timings));
  for (size_t i = 0; i < tactics.size(); ++i)
    out.us[i] = tactics[i].view_of >= 0 ? 0 : out.of(tactic_key(tactics[i]));
  return out;
}

Status ProblemTuner::time_missing(const Problem& problem, const std::string& key,
                                  const std::vector<const Tactic*>& wanted, const Effort& effort,
                                  std::vector<Timing>& timings) {
  const std::vector<const Tactic*> missing = without_timing(wanted, timings);
  context_.counts().timings_reused += static_cast<int>(wanted.size() - missing.size());
  if (missing.empty() || context_.options().level < 2) return {};
  CHECK_OK(measure_missing(problem, key, wanted, effort, timings));
  TRY(timings, context_.find(key));
  return {};
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
    MeasurementFixture& fixture, std::vector<PreparedCandidate> prepared, const Indices& which,
    Job& job) {
  const TimedScope timed(context_.counts().preparing_s, context_.clock());
  std::vector<Entry> out;
  for (size_t k = 0; k < which.size(); ++k) {
    if (job.is_out(which[k])) continue;
    Timing& result = job.results[which[k]];
    const Status made = context_.attempt(
        job.key, *prepared[k].tactic, FailureKind::launch, result, [&]() -> Status {
          TRY(Candidate candidate, fixture.candidate(prepared[k]));
          out.push_back({which[k], std::move(prepared[k]), std::move(candidate)});
          return {};
        });
    if (!made.ok()) return context_.give_up(job.key, job.results, made.error());
  }
  return out;
}

Result<std::vector<ProblemTuner::Entry>> ProblemTuner::enter(MeasurementFixture& fixture,
                                                             const Indices& which, Gate gate,
                                                             Job& job) {
  TRY(std::vector<PreparedCandidate> prepared, prepare(fixture, which, job));
  CHECK_OK(check(fixture, prepared, which, job));
  if (gate == Gate::whole) CHECK_OK(ProblemGate(context_, job).pass_probes(which));
  return candidates(fixture, std::move(prepared), which, job);
}

Result<std::vector<CandidateResult>> ProblemTuner::race_entries(const std::vector<Entry>& entries,
                                                                RaceRules rules, Job& job) {
  const TimedScope timed(context_.counts().racing_s, context_.clock());
  std::vector<Candidate> candidates;
  std::vector<std::string> names;
  for (const Entry& e : entries) {
    candidates.push_back(e.candidate);
    names.push_back(tactic_key(*job.tactics[e.index]));
  }
  rules.in_flight = context_.turns_in_flight(job.key, std::move(names));
  TRY(auto raced, context_.race_beside_probe(job.key, candidates, std::move(rules)));
  for (size_t i = 0; i < raced.size(); ++i) {
    Timing& t = job.results[entries[i].index];
    note_race(raced[i], t);
    if (raced[i].lost_device()) {
      return context_.give_up(job.key, job.results,
                              {ErrorCode::device_lost, t.tactic + ": " + t.failure});
    }
  }
  return raced;
}

Result<bool> ProblemTuner::measure(Job job) {
  context_.forget_out_of_memory();
  CHECK_OK(context_.probe());  // before the memory is full
  TRY(const auto fixture,
      MeasurementFixture::make(job.problem, context_.device(), context_.seed()));
  job.results.resize(job.tactics.size());
  job.samples.resize(job.tactics.size());
  job.cold_us.resize(job.tactics.size());
  job.out_of_room.resize(job.tactics.size());
  for (size_t i = 0; i < job.tactics.size(); ++i)
    job.results[i].tactic = tactic_key(*job.tactics[i]);
  Indices all(job.tactics.size());
  std::iota(all.begin(), all.end(), size_t{0});
  TRY(const std::vector<Entry> entries, enter(*fixture, all, Gate::whole, job));
  if (entries.empty() && context_.out_of_memory()) return *context_.out_of_memory();
  CHECK_OK(time_entries(entries, *fixture, job));
  CHECK_OK(ProblemGate(context_, job).confirm_winners());
  const bool related = summarize_on_known_scale(job);
  CHECK_OK(context_.store(job.key, std::move(job.results)));
  return related;
}

Status ProblemTuner::time_entries(const std::vector<Entry>& entries, MeasurementFixture& fixture,
                                  Job& job) {
  TRY(auto raced, race_entries(entries, rules_for(job.effort, entries.size()), job));
  for (size_t i = 0; i < raced.size(); ++i)
    job.samples[entries[i].index] = std::move(raced[i].samples_us);
  Indices close = fixture.placements() > 1 ? finalists(job) : Indices();
  std::vector<std::unique_ptr<MeasurementFixture>> further;
  while (close.size() > 1 && further.size() < job.effort.further_fixtures) {
    const uint64_t seed = context_.seed() + further.size() + 1;
    TRY(further.emplace_back(), MeasurementFixture::make(job.problem, context_.device(), seed));
    CHECK_OK(race_again(*further.back(), close, job));
    // What was wrong once is out for good.
    std::erase_if(close, [&](size_t i) { return !job.results[i].failure.empty(); });
  }
  return race_cold(entries, fixture, job);
}

Status ProblemTuner::race_cold(const std::vector<Entry>& entries, MeasurementFixture& fixture,
                               Job& job) {
  Indices close = job.effort.cold ? finalists(job) : Indices();
  if (close.size() < 2 || context_.device().measurer()->sweep_bytes() == 0) return {};
  close.resize(std::min(close.size(), kMaxColdFinalists));
  std::vector<Entry> cold;
  for (const Entry& entry : entries) {
    if (std::find(close.begin(), close.end(), entry.index) == close.end()) continue;
    const Tactic& tactic = *entry.prepared.tactic;
    const Status made = context_.attempt(
        job.key, tactic, FailureKind::launch, job.results[entry.index], [&]() -> Status {
          TRY(Candidate candidate,
              fixture.cold_candidate(entry.prepared, median(job.samples[entry.index])));
          cold.push_back({entry.index, entry.prepared, std::move(candidate)});
          return {};
        });
    if (!made.ok()) return context_.give_up(job.key, job.results, made.error());
  }
  // No memory for all of them: there is nothing to compare.
  if (cold.size() < close.size()) return {};
  TRY(const auto raced, race_entries(cold, cold_rules(), job));
  for (size_t k = 0; k < raced.size(); ++k) {
    if (raced[k].failure.empty()) job.cold_us[cold[k].index] = median(raced[k].samples_us);
  }
  return {};
}

Status ProblemTuner::race_again(MeasurementFixture& fixture, const Indices& close, Job& job) {
  TRY(const std::vector<Entry> entries, enter(fixture, close, Gate::one_probe, job));
  // No memory for all of them, or one is wrong here: there is nothing to compare.
  if (entries.size() < close.size()) return {};
  TRY(auto raced, race_entries(entries, without_drops(), job));
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
