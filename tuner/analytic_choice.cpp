#include "tuner/analytic_choice.h"

#include <cmath>
#include <limits>

#include "tuner/layout_search.h"

namespace enginery {
namespace {

// The first that is offered, as complete_reformats takes; asked for often and always the same, so
// it is remembered.
class ReformatEstimates {
 public:
  ReformatEstimates(const Network& network, const TacticSources& sources)
      : network_(network), sources_(sources) {}

  double operator()(const ReformatKey& key) {
    const auto [place, first] = known_.try_emplace(key, std::numeric_limits<double>::infinity());
    if (!first) return place->second;
    auto tactic = offer_reformat_tactic(network_, sources_, key);
    if (tactic.ok()) place->second = tactic->estimated_us;
    return place->second;
  }

 private:
  const Network& network_;
  const TacticSources& sources_;
  std::map<ReformatKey, double> known_;
};

}  // namespace

Result<TacticSelection> analytic_choice(const Network& network, const TacticSources& sources) {
  TacticCosts costs;
  for (const NetworkNode& node : network.nodes) {
    auto& row = costs.emplace_back();
    for (const Tactic& tactic : node.tactics) row.push_back(tactic.estimated_us);
  }
  ReformatEstimates reformats(network, sources);
  const auto solutions = search_layouts(
      network, costs, [&](const ReformatKey& key) { return reformats(key); }, 1);
  if (solutions.empty() || !std::isfinite(solutions[0].total_us)) {
    return Error{ErrorCode::unsupported, "no assignment of layouts connects all layers"};
  }
  TacticSelection out;
  out.tactics = chosen_tactics(network, solutions[0]);
  CHECK_OK(complete_reformats(network, sources, out));
  return out;
}

}  // namespace enginery
