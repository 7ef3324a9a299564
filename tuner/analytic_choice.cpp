#include "tuner/analytic_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/cover.h"
#include "tuner/layout_search.h"

namespace enginery {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of reformats: their formats are given.
const std::set<Precision> kAny{Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16,
                               Precision::int8};

Result<std::string> failure_of(const Problem& problem, const Tactic& tactic,
                               KnownFailures* failures) {
  if (!failures || tactic.view_of >= 0) return std::string();
  return failures->of(problem.key(), tactic_key(tactic));
}

// What a reference counts besides its estimate: it is taken where nothing else serves, however long
// the others' estimates say that they take.
constexpr double kReferenceUs = 1e6;

// The estimates of a layer's tactics; infinite for those that failed.
Result<std::vector<double>> estimates_of(const NetworkNode& node, KnownFailures* failures) {
  std::vector<double> out;
  std::string reasons;
  bool any = false;
  for (const Tactic& tactic : node.tactics) {
    TRY(const std::string failure, failure_of(node.problem, tactic, failures));
    const double us = tactic.estimated_us + (tactic.trust == Trust::reference ? kReferenceUs : 0);
    out.push_back(failure.empty() ? us : kNever);
    any = any || failure.empty();
    if (!failure.empty()) reasons += "; " + tactic_key(tactic) + ": " + failure;
  }
  if (any) return out;
  return Error{ErrorCode::unsupported, "layer '" + node.name + "': every tactic failed" + reasons};
}

// The first that is offered and has not failed; asked for often and always the same, so it is
// remembered.
class Reformats {
 public:
  Reformats(const Network& network, const TacticSources& sources, KnownFailures* failures)
      : network_(network), sources_(sources), failures_(failures) {}

  const Result<Tactic>& best(const ReformatKey& key) {
    auto known = known_.find(key);
    if (known == known_.end()) known = known_.emplace(key, choose(key)).first;
    return known->second;
  }
  double estimate(const ReformatKey& key) {
    const Result<Tactic>& tactic = best(key);
    return tactic.ok() ? tactic->estimated_us : kNever;
  }

 private:
  Result<Tactic> choose(const ReformatKey& key) const {
    TRY(Tactic first, offer_reformat_tactic(network_, sources_, key));
    const Value& value = network_.graph.value(key.value);
    const Problem problem = reformat_problem(value.type, key.from, key.to);
    TRY(std::string failure, failure_of(problem, first, failures_));
    if (failure.empty()) return first;
    TRY(const auto offered, offer_all(sources_, problem, kAny));
    for (const Tactic& tactic : offered) {
      TRY(failure, failure_of(problem, tactic, failures_));
      if (failure.empty()) return tactic;
    }
    return Error{ErrorCode::unsupported, "reformat of '" + value.name + "': every tactic failed; " +
                                             tactic_key(first) + ": " + failure};
  }

  const Network& network_;
  const TacticSources& sources_;
  KnownFailures* failures_;
  std::map<ReformatKey, Result<Tactic>> known_;
};

bool has_integers(const Alternative& alternative) {
  return std::ranges::any_of(alternative.instead, [](const NetworkNode& node) {
    return is_region(node.problem) && is_one_of<Quantize, Dequantize>(node.problem);
  });
}

}  // namespace

double estimated_us(const TacticSelection& selection) {
  double sum = 0;
  for (const Tactic& tactic : selection.tactics) sum += tactic.estimated_us;
  for (const auto& [key, tactic] : selection.reformats) sum += tactic.estimated_us;
  return sum;
}

Result<TacticSelection> analytic_choice(const Network& network, const TacticSources& sources,
                                        KnownFailures* failures) {
  TacticCosts costs;
  for (const NetworkNode& node : network.nodes) {
    TRY(costs.emplace_back(), estimates_of(node, failures));
  }
  Reformats reformats(network, sources, failures);
  const auto solutions = search_layouts(
      network, costs, [&](const ReformatKey& key) { return reformats.estimate(key); }, 1);
  if (solutions.empty() || !std::isfinite(solutions[0].total_us)) {
    return Error{ErrorCode::unsupported, "no assignment of layouts connects all layers"};
  }
  TacticSelection out;
  out.tactics = chosen_tactics(network, solutions[0]);
  for (const ReformatKey& key : needed_reformats(network, out.tactics)) {
    TRY(Tactic tactic, reformats.best(key));
    out.reformats.emplace(key, std::move(tactic));
  }
  return out;
}

Cover estimated_cover(const Network& network) {
  const auto least = [](const NetworkNode& node) {
    double us = kNever;
    for (const Tactic& tactic : node.tactics) us = std::min(us, tactic.estimated_us);
    return us;
  };
  return choose_cover(network, least, has_integers);
}

Result<TacticSelection> analytic_cover(const Network& network, const TacticSources& sources,
                                       KnownFailures* failures) {
  TRY(TacticSelection as_proposed, analytic_choice(network, sources, failures));
  const Cover cover = estimated_cover(network);
  if (cover.empty()) return as_proposed;
  TRY(const Network cut, network.cut(cover));
  auto covered = analytic_choice(cut, sources, failures);
  if (!covered && covered.error().code != ErrorCode::unsupported) return covered.error();
  if (!covered || estimated_us(*covered) >= estimated_us(as_proposed)) return as_proposed;
  covered->cover = cover;
  return covered;
}

}  // namespace enginery
