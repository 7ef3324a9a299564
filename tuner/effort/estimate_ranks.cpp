#include "tuner/effort/estimate_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tuner/effort/effort.h"

namespace enginery {
namespace {

constexpr size_t kFirst[] = {1, 2, 4, 8};

// Indices of those that have a time and an estimate, the least estimate of each kind first.
std::map<std::string, std::vector<size_t>> kinds_of(const std::vector<Tactic>& tactics,
                                                    const std::vector<double>& us) {
  std::map<std::string, std::vector<size_t>> out;
  for (size_t i = 0; i < tactics.size(); ++i) {
    const bool told = std::isfinite(us[i]) && tactics[i].view_of < 0 && tactics[i].estimated_us > 0;
    if (told) out[kind_of(tactics[i])].push_back(i);
  }
  for (auto& [kind, indices] : out)
    std::ranges::stable_sort(indices, {}, [&](size_t i) { return tactics[i].estimated_us; });
  return out;
}

}  // namespace

std::string ranks_text(const std::string& problem, double share, const std::vector<Tactic>& tactics,
                       const std::vector<double>& us) {
  const auto kinds = kinds_of(tactics, us);
  const std::string place = share < 0 ? "" : fmt::format(" ({:.2f} % of the network)", 100 * share);
  double least = std::numeric_limits<double>::infinity();
  size_t best = tactics.size();
  for (const auto& [kind, indices] : kinds) {
    least = std::min(least, tactics[indices.front()].estimated_us);
    for (const size_t i : indices)
      if (best == tactics.size() || us[i] < us[best]) best = i;
  }
  if (best == tactics.size()) return "ranks: no time beside an estimate; " + problem;
  const std::vector<size_t>& own = kinds.at(kind_of(tactics[best]));
  const auto rank = std::ranges::find(own, best) - own.begin() + 1;
  const double estimate = tactics[best].estimated_us;
  std::string out = fmt::format(
      "ranks: {:.2f} us{}, estimate {:.2f}: {}; {} of {} of its kind, {:.2f} times its least "
      "estimate, {:.2f} times all's; the first 1, 2, 4, 8 of each kind:",
      us[best], place, estimate, tactic_key(tactics[best]), rank, own.size(),
      estimate / tactics[own.front()].estimated_us, estimate / least);
  for (const size_t count : kFirst) {
    double fastest = std::numeric_limits<double>::infinity();
    for (const auto& [kind, indices] : kinds)
      for (size_t k = 0; k < std::min(count, indices.size()); ++k)
        fastest = std::min(fastest, us[indices[k]]);
    out += fmt::format(" {:.2f}", fastest / us[best]);
  }
  return out + "; " + problem;
}

}  // namespace enginery
