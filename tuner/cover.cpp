#include "tuner/cover.h"

#include <algorithm>

#include "tuner/effort/worth_measuring.h"

namespace enginery {
namespace {

// Microseconds that the network gains by the alternative; negative where it loses.
double gain_of(const Network& network, const Alternative& alternative, const NodeCost& cost) {
  double gain = 0;
  for (const size_t n : alternative.replaces) gain += cost(network.nodes[n]);
  for (const NetworkNode& node : alternative.instead) gain -= cost(node);
  return gain;
}

}  // namespace

Cover choose_cover(const Network& network, const NodeCost& cost, const Considered& considered) {
  std::vector<std::pair<double, size_t>> gains;
  for (size_t a = 0; a < network.alternatives.size(); ++a) {
    if (!considered(network.alternatives[a])) continue;
    const double gain = gain_of(network, network.alternatives[a], cost);
    if (gain > 0) gains.emplace_back(gain, a);  // not a number where nothing runs on either side
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<bool> replaced(network.nodes.size(), false);
  Cover out;
  for (const auto& [gain, a] : gains) {
    const std::vector<size_t>& nodes = network.alternatives[a].replaces;
    if (std::any_of(nodes.begin(), nodes.end(), [&](size_t n) { return replaced[n]; })) continue;
    for (const size_t n : nodes) replaced[n] = true;
    out.push_back(a);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string cover_text(const Network& network, const Cover& cover, int level) {
  const auto left_out = std::ranges::count_if(network.alternatives, [&](const Alternative& a) {
    return !is_worth_measuring(network, a, level);
  });
  return std::to_string(cover.size()) + " of " + std::to_string(network.alternatives.size()) +
         " alternatives in force, " + std::to_string(left_out) + " left to level 4";
}

}  // namespace enginery
