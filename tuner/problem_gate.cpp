#include "tuner/problem_gate.h"

#include <algorithm>
#include <mutex>

#include "engine/base/parallel.h"
#include "engine/base/statistics.h"
#include "tuner/gate/shrink.h"

namespace enginery {
namespace {

// Beyond them a problem takes long to compute in full, or to copy to and from a device, several
// times for each tactic.
constexpr int64_t kMaxElementsInFull = 1 << 20, kMaxElementsCopied = 1 << 22;
constexpr double kMayWin = 1.02;  // what ties with the fastest may be chosen in its place
// A race between threads shows on some launches only: as many as take little time.
constexpr int64_t kMinLaunches = 2, kMaxLaunches = 8, kConfirmedBytes = 64 << 20;
constexpr uint64_t kLastSeed = 1000;  // the number of the winners' draw; fixtures take those from 0

int64_t elements_of(const Problem& problem) {
  int64_t out = 0;
  for (const auto* descs : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& d : *descs) out += d.present ? volume(d.type.dims) : 0;
  }
  return out;
}

bool is_cheap(const Problem& problem) {
  return elements_of(problem) <= (is_sampled(problem) ? kMaxElementsCopied : kMaxElementsInFull);
}

}  // namespace

Status ProblemGate::prepare(const TacticIndices& which,
                            const std::function<Status(size_t)>& prepare_one) {
  std::mutex mutex;
  std::optional<Error> lost;
  auto attempt = [&](int64_t k) {
    const size_t index = which[static_cast<size_t>(k)];
    if (context_.options().cancelled()) return;
    const Status prepared =
        context_.attempt(job_.key, *job_.tactics[index], FailureKind::compile, job_.results[index],
                         [&] { return prepare_one(static_cast<size_t>(k)); });
    const std::lock_guard lock(mutex);
    if (!prepared.ok() && !lost) lost = prepared.error();
  };
  const bool one_by_one = context_.options().one_by_one;
  const auto count = static_cast<int64_t>(which.size());
  if (one_by_one) {
    for (int64_t k = 0; k < count && !lost; ++k) attempt(k);
  } else {
    parallel_for(count, attempt);
  }
  if (!lost) return {};
  // Any of those that were prepared in parallel may have done it: no one is to blame yet.
  if (!one_by_one && count > 1) return *lost;
  return context_.give_up(job_.key, job_.results, *lost);
}

TacticIndices ProblemGate::sound(const TacticIndices& which) const {
  TacticIndices out;
  std::copy_if(which.begin(), which.end(), std::back_inserter(out),
               [&](size_t i) { return !job_.is_out(i); });
  return out;
}

Status ProblemGate::check(size_t index,
                          const std::function<Result<CheckedResult>()>& launch_and_compare) {
  Timing& result = job_.results[index];
  bool ran = false;
  const Status tried = context_.attempt(
      job_.key, *job_.tactics[index], FailureKind::launch, result, [&]() -> Status {
        TRY(const CheckedResult checked, launch_and_compare());
        ran = true;
        result.error = std::max(result.error, checked.relative_error);
        if (checked.rejected.empty()) return {};
        result.failure_kind = checked.kind;
        return Error{ErrorCode::internal, checked.rejected};
      });
  if (!ran && result.failure.empty()) job_.out_of_room[index] = true;
  if (!result.failure.empty())
    context_.options().log(result.tactic + " is rejected: " + result.failure);
  return tried.ok() ? tried : Status(context_.give_up(job_.key, job_.results, tried.error()));
}

Status ProblemGate::pass(Probe& probe, const TacticIndices& which, int launches) {
  std::vector<std::shared_ptr<const PreparedTactic>> prepared(which.size());
  const bool smaller = probe.problem().key() != job_.key;
  CHECK_OK(prepare(which, [&](size_t k) -> Status {
    const Tactic& tactic = *job_.tactics[which[k]];
    auto made = probe.prepare(*find_source(context_.sources(), tactic.source), tactic);
    if (made.ok()) prepared[k] = std::move(*made);
    // A tactic of the problem need not serve a smaller one.
    const bool refuses = !made.ok() && smaller && !context_.lost_device(made.error());
    return made.ok() || refuses ? Status() : Status(made.error());
  }));
  for (size_t k = 0; k < which.size(); ++k) {
    if (context_.options().cancelled()) return Error{ErrorCode::cancelled, "tuning was cancelled"};
    if (!prepared[k]) {
      job_.out_of_room[which[k]] = job_.out_of_room[which[k]] || !smaller;
      continue;
    }
    CHECK_OK(check(which[k],
                   [&] { return probe.check(*job_.tactics[which[k]], *prepared[k], launches); }));
  }
  return {};
}

// A source that compiles for each shape would take as long for the smaller problem as for this one.
bool ProblemGate::repeats_cheaply(const Tactic& tactic) const {
  return !find_source(context_.sources(), tactic.source)->traits().compiles_by_shape;
}

Status ProblemGate::pass_on(const Problem& problem, const std::vector<ProbeKind>& kinds,
                            Coverage coverage, const TacticIndices& which) {
  for (const ProbeKind kind : kinds) {
    const TacticIndices rest = sound(which);
    if (rest.empty()) return {};
    TRY(const auto probe,
        Probe::make(problem, context_.device(), {kind, context_.seed()}, coverage, 1));
    CHECK_OK(pass(*probe, rest, 1));
  }
  return {};
}

Status ProblemGate::pass_probes(const TacticIndices& which) {
  const TimedScope timed(context_.counts().checking_s, context_.clock());
  const Problem& problem = job_.problem;
  std::vector<ProbeKind> kinds{ProbeKind::wide};
  if (is_exact_on_integers(problem)) kinds.push_back(ProbeKind::integers);
  const std::optional<Problem> smaller = shrink(problem);
  TacticIndices on_smaller, on_problem;
  for (const size_t i : which) {
    const bool shrinks = smaller && repeats_cheaply(*job_.tactics[i]);
    if (shrinks) on_smaller.push_back(i);
    const bool as_it_is = is_cheap(problem) || (is_region(problem) && !smaller);
    if (as_it_is || (is_sampled(problem) && !shrinks)) on_problem.push_back(i);
  }
  CHECK_OK(pass_on(problem, kinds, {}, on_problem));
  if (!smaller) return {};
  // Where all ran on the problem, one says of the smaller one what there is to say.
  if (is_cheap(problem)) kinds.erase(kinds.begin(), kinds.end() - 1);
  return pass_on(*smaller, kinds, full_coverage(), on_smaller);
}

TacticIndices ProblemGate::possible_winners() const {
  std::vector<double> warm;
  for (size_t i = 0; i < job_.tactics.size(); ++i) {
    const bool timed = !job_.is_out(i) && !job_.samples[i].empty();
    warm.push_back(timed ? median(job_.samples[i]) : kInfinity);
  }
  const std::vector<double> us = deciding_us(warm, job_.cold_us);
  TacticIndices out;
  for (size_t i = 0; i < us.size(); ++i) {
    double fastest = us[i];
    for (size_t j = 0; j < us.size(); ++j) {
      const bool alike = job_.tactics[j]->inputs == job_.tactics[i]->inputs &&
                         job_.tactics[j]->outputs == job_.tactics[i]->outputs;
      if (alike) fastest = std::min(fastest, us[j]);
    }
    if (us[i] < kInfinity && us[i] <= kMayWin * fastest) out.push_back(i);
  }
  return out;
}

Status ProblemGate::confirm_winners() {
  const TimedScope timed(context_.counts().checking_s, context_.clock());
  const int launches = static_cast<int>(std::clamp<int64_t>(
      kConfirmedBytes / activation_bytes(job_.problem), kMinLaunches, kMaxLaunches));
  std::unique_ptr<Probe> probe;
  TacticIndices confirmed;
  while (true) {
    TacticIndices which = possible_winners();
    std::erase_if(which, [&](size_t i) {
      return std::find(confirmed.begin(), confirmed.end(), i) != confirmed.end();
    });
    if (which.empty()) return {};
    if (!probe) {
      TRY(probe, Probe::make(job_.problem, context_.device(),
                             {ProbeKind::symmetric, context_.seed() + kLastSeed}, {}, 1));
    }
    CHECK_OK(pass(*probe, which, launches));
    confirmed.insert(confirmed.end(), which.begin(), which.end());
  }
}

}  // namespace enginery
