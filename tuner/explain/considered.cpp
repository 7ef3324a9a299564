#include "tuner/explain/considered.h"

#include <algorithm>
#include <tuple>

#include "engine/plan/network.h"
#include "engine/plan/workspace_limit.h"
#include "tuner/effort/worth_measuring.h"
#include "tuner/timing/comparable.h"

namespace enginery {
namespace {

std::string failure_text(const Timing& timing) {
  const std::string kind(to_string(timing.failure_kind));
  return timing.failure_kind == FailureKind::unknown ? timing.failure
                                                     : kind + ": " + timing.failure;
}

// `unworthy`: why it was not worth measuring; "" where it was.
ConsideredTactic considered(const Tactic& tactic, const std::string& unworthy,
                            const std::vector<Timing>& timings, int level) {
  ConsideredTactic out;
  out.tactic = tactic_key(tactic);
  out.estimated_us = tactic.estimated_us;
  const Timing* timing = find_timing(timings, out.tactic);
  if (tactic.view_of >= 0) {
    out.what = Consideration::view;
    out.reason = "takes no time: the output is the input's memory";
  } else if (timing && !timing->failure.empty()) {
    out.what = Consideration::failed;
    out.reason = failure_text(*timing);
  } else if (timing) {
    out.what = Consideration::measured;
    out.us = comparable_us(timings)[static_cast<size_t>(timing - timings.data())];
    out.cold_us = timing->cold_us;
    out.error = timing->error;
  } else if (!unworthy.empty()) {
    out.reason = unworthy;
  } else if (level < 2) {
    out.reason = "level " + std::to_string(level) + " measures nothing";
  } else {
    out.reason =
        "there is no timing of it: the problem's share of the network was not worth it (level 4 "
        "measures it), there was no memory for it, or the problem was not measured by itself";
  }
  return out;
}

}  // namespace

std::string_view to_string(Consideration what) {
  switch (what) {
    case Consideration::measured:
      return "measured";
    case Consideration::failed:
      return "failed";
    case Consideration::view:
      return "view";
    case Consideration::unmeasured:
      return "unmeasured";
  }
  return "unmeasured";
}

Result<ConsideredProblem> consider(const Problem& problem, const TacticSources& sources,
                                   const std::set<Precision>& allowed, int level,
                                   const std::vector<Timing>& timings,
                                   std::optional<int64_t> most_workspace) {
  ConsideredProblem out;
  out.problem = problem.key();
  std::vector<Tactic> offered;
  for (SourceOffer& offer : ask_sources(sources, problem, allowed)) {
    if (offer.tactics.ok()) {
      std::ranges::move(*offer.tactics, std::back_inserter(offered));
    } else if (offer.tactics.error().code == ErrorCode::unsupported) {
      out.refusals.push_back({offer.source, offer.tactics.error().message});
    } else {
      return offer.tactics.error();
    }
  }
  const auto over = std::ranges::stable_partition(offered, [&](const Tactic& t) {
    return t.workspace_bytes <= most_workspace.value_or(t.workspace_bytes);
  });
  for (const Tactic& tactic : over)
    out.tactics.push_back({.tactic = tactic_key(tactic),
                           .reason = over_workspace(tactic.workspace_bytes, *most_workspace),
                           .estimated_us = tactic.estimated_us});
  offered.erase(over.begin(), over.end());
  const std::vector<std::string> unworthy = unworthy_of_measuring(offered, level);
  for (size_t i = 0; i < offered.size(); ++i)
    out.tactics.push_back(considered(offered[i], unworthy[i], timings, level));
  std::ranges::stable_sort(out.tactics, {},
                           [](const ConsideredTactic& t) { return std::tuple(t.what, t.us); });
  return out;
}

}  // namespace enginery
