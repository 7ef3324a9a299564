#include "tuner/effort/effort.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace enginery {
namespace {

// How far estimates are to be trusted: of EfficientNet-B0's problems on an H200 the winner was
// among the first 8 kernels of its family or tied with the first by its estimate, within 1.25 times
// the least one, and among the first 2 proposals of a library; ResNet-50's and MobileNet-v2's
// likewise. The first 4 of a family are 0.1 % slower than all of them where a problem takes 0.8 to
// 2 % of the network, the first 2 as fast as all below that. The log of a tuning has the ranks
// (estimate_ranks.h).
struct EffortRow {
  double from_share;
  Effort effort;
};
constexpr EffortRow kEfforts[] = {
    {0.02, {.of_a_kind = 10, .of_a_library = 4, .within = 2}},
    {0.008,
     {.of_a_kind = 5,
      .of_a_library = 3,
      .within = 1.5,
      .of_slower = 1,
      .further_fixtures = 1,
      .precise = 0.01}},
    {0,
     {.of_a_kind = 3,
      .of_a_library = 2,
      .within = 1.3,
      .of_slower = 1,
      .further_fixtures = 0,
      .cold = false,
      .final_samples = 8,
      .precise = 0.02}},
};

}  // namespace

std::optional<double> least_estimate(const NetworkNode& node) {
  std::optional<double> least;
  for (const Tactic& t : node.tactics) {
    if (t.view_of >= 0) return 0;
    if (t.trust == Trust::reference && node.tactics.size() > 1) continue;
    if (t.estimated_us <= 0) return std::nullopt;
    least = std::min(least.value_or(t.estimated_us), t.estimated_us);
  }
  return least;
}

std::string kind_of(const Tactic& tactic) {
  std::string out = tactic.source + ":" + tactic.id.substr(0, tactic.id.find('/')) + " " +
                    std::string(to_string(tactic.compute));
  for (const auto* formats : {&tactic.inputs, &tactic.outputs}) {
    out += " ->";
    for (const Format& format : *formats) out += " " + to_string(format);
  }
  return out;
}

Effort least_effort() {
  return std::prev(std::end(kEfforts))->effort;
}

Effort effort_for(double share, int level) {
  if (level > kDefaultLevel || share < 0) return {};
  return std::ranges::find_if(kEfforts,
                              [&](const EffortRow& row) { return share >= row.from_share; })
      ->effort;
}

double estimated_network_us(const Network& network) {
  double out = 0;
  for (const NetworkNode& node : network.nodes) out += least_estimate(node).value_or(0);
  return out;
}

std::map<std::string, double> estimated_shares(const Network& network) {
  const double whole = estimated_network_us(network);
  std::map<std::string, double> out;
  const auto add = [&](const NetworkNode& node) {
    double& share = out[offer_key(node)];
    const auto us = least_estimate(node);
    const bool known = us && whole > 0 && share >= 0;
    share = known ? share + *us / whole : -1;
  };
  for (const NetworkNode& node : network.nodes) add(node);
  for (const Alternative& alternative : network.alternatives)
    for (const NetworkNode& node : alternative.instead) add(node);
  return out;
}

}  // namespace enginery
