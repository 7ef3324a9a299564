#include "tuner/effort/worth_measuring.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace enginery {
namespace {

constexpr size_t kShortList = 3, kShortListOfSlower = 1;
constexpr std::string_view kOwnKernels = "kernel";  // their source on every kind of device
// Where a problem waits for the memory the estimates of most variants are the same: they say
// nothing of the order of these, which is then not cut.
constexpr double kTiedEstimates = 1.02;
constexpr double kHopeless = 8;  // estimates are rough: only what is far off is pruned
// The estimates of an alternative and of what it replaces are sums over problems of the same kinds:
// they compare better than those of two tactics.
constexpr double kHopelessAlternative = 1.5;

// The precision of the least estimate is searched whole. Of each other one the first few of a
// source are enough for layers that must not be computed in that one.
class SlowerPrecisions {
 public:
  SlowerPrecisions(const std::vector<Tactic>& offered, size_t few) : few_(few) {
    for (const Tactic& t : offered) {
      if (t.estimated_us <= 0 || t.trust == Trust::reference) continue;
      estimates_[{t.source, t.compute}].push_back(t.estimated_us);
      if (!likely_ || t.estimated_us < likely_->estimated_us) likely_ = &t;
    }
    for (auto& [group, us] : estimates_) std::sort(us.begin(), us.end());
  }

  double least_us() const {
    return likely_ ? likely_->estimated_us : std::numeric_limits<double>::infinity();
  }
  bool is_slower(const Tactic& t) const {
    return t.estimated_us > 0 && likely_ && t.compute != likely_->compute;
  }
  bool leaves_out(const Tactic& t) const {
    if (!is_slower(t)) return false;
    const bool own_has_it = estimates_.contains({std::string(kOwnKernels), t.compute});
    if (few_ == 1 && own_has_it && t.source != kOwnKernels) return true;
    const std::vector<double>& us = estimates_.at({t.source, t.compute});
    return us.size() > few_ && t.estimated_us > us[few_ - 1];
  }

 private:
  std::map<std::pair<std::string, Precision>, std::vector<double>> estimates_;  // ascending
  const Tactic* likely_ = nullptr;
  const size_t few_;
};

// Whether tactics are among the first of their kind by their estimates; equal ones in their order.
class FirstOfKinds {
 public:
  FirstOfKinds(const std::vector<Tactic>& offered, const Effort& effort) {
    std::map<std::string, std::vector<const Tactic*>> kinds;
    for (const Tactic& t : offered)
      if (t.estimated_us > 0) kinds[kind_of(t)].push_back(&t);
    for (auto& [kind, tactics] : kinds) {
      std::ranges::stable_sort(tactics, {}, &Tactic::estimated_us);
      const double limit = effort.within * tactics.front()->estimated_us;
      const bool is_own = tactics.front()->source == kOwnKernels;
      const size_t most = is_own ? effort.of_a_kind : effort.of_a_library;
      const double tie = is_own ? kTiedEstimates * tactics.front()->estimated_us : 0;
      for (size_t i = 0; i < tactics.size(); ++i)
        if ((i >= most && tactics[i]->estimated_us > tie) || tactics[i]->estimated_us > limit)
          others_.insert(tactics[i]);
    }
  }
  bool leave_out(const Tactic& t) const { return others_.contains(&t); }

 private:
  std::set<const Tactic*> others_;
};

}  // namespace

std::vector<std::string> unworthy_of_measuring(const std::vector<Tactic>& offered, int level,
                                               const Effort& effort) {
  std::vector<std::string> out(offered.size());
  const SlowerPrecisions slower(offered, effort.of_slower);
  const FirstOfKinds first(offered, effort);
  size_t worthy = 0, worthy_of_slower = 0;
  for (size_t i = 0; i < offered.size(); ++i) {
    const Tactic& t = offered[i];
    if (t.trust == Trust::reference)
      out[i] = "the reference, which runs only where nothing else does";
    else if (level < 4 && t.estimated_us > kHopeless * slower.least_us())
      out[i] = "its estimate is more than 8 times the least one; level 4 measures it";
    else if (level < 4 && first.leave_out(t))
      out[i] =
          "behind the first of its kind that the problem's share of the network's time is worth; "
          "level 4 measures it";
    else if (level < 4 && slower.leaves_out(t))
      out[i] = "behind the first " + std::to_string(effort.of_slower) +
               " of a precision that is likely slower; level 4 measures it";
    else if (level <= 2 && slower.is_slower(t) && worthy_of_slower == kShortListOfSlower)
      out[i] = "behind the first of a precision that is likely slower; level 3 measures it";
    else if (level <= 2 && !slower.is_slower(t) && worthy == kShortList)
      out[i] = "behind the first 3; level 3 measures it";
    else
      ++(slower.is_slower(t) ? worthy_of_slower : worthy);
  }
  if (worthy + worthy_of_slower == 0) out.assign(offered.size(), "");
  return out;
}

bool is_worth_measuring(const Network& network, const Alternative& alternative, int level) {
  if (level >= 4) return true;
  // Merged siblings took two fifths more timings of GoogLeNet, and its engine as long with them as
  // without: 0.1343 and 0.1341 ms on an H100 at batch 1, within 2 % on two CPU cores.
  if (alternative.leads) return false;
  double now = 0, instead = 0;
  bool known = true;
  const auto add = [&](const NetworkNode& node, double& sum) {
    const auto us = least_estimate(node);
    known = known && us.has_value();
    sum += us.value_or(0);
  };
  for (const size_t n : alternative.replaces) add(network.nodes[n], now);
  for (const NetworkNode& node : alternative.instead) add(node, instead);
  return !known || instead <= kHopelessAlternative * now;
}

std::vector<const Tactic*> worth_measuring(const std::vector<Tactic>& offered, int level,
                                           const Effort& effort) {
  const std::vector<std::string> unworthy = unworthy_of_measuring(offered, level, effort);
  std::vector<const Tactic*> out;
  for (size_t i = 0; i < offered.size(); ++i) {
    if (unworthy[i].empty()) out.push_back(&offered[i]);
  }
  return out;
}

}  // namespace enginery
