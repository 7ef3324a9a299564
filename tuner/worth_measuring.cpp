#include "tuner/worth_measuring.h"

#include <algorithm>
#include <limits>
#include <map>

namespace enginery {
namespace {

constexpr size_t kShortList = 3, kFewOfSlower = 2;
constexpr double kHopeless = 8;  // estimates are rough: only what is far off is pruned

// The precision of the least estimate is searched whole. Of each other one the first few of a
// source are enough for layers that must not be computed in that one.
class SlowerPrecisions {
 public:
  explicit SlowerPrecisions(const std::vector<Tactic>& offered) {
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
  bool leaves_out(const Tactic& t) const {
    if (t.estimated_us <= 0 || t.compute == likely_->compute) return false;
    const std::vector<double>& us = estimates_.at({t.source, t.compute});
    return us.size() > kFewOfSlower && t.estimated_us > us[kFewOfSlower - 1];
  }

 private:
  std::map<std::pair<std::string, Precision>, std::vector<double>> estimates_;  // ascending
  const Tactic* likely_ = nullptr;
};

}  // namespace

std::vector<std::string> unworthy_of_measuring(const std::vector<Tactic>& offered, int level) {
  std::vector<std::string> out(offered.size());
  const SlowerPrecisions slower(offered);
  size_t worthy = 0;
  for (size_t i = 0; i < offered.size(); ++i) {
    const Tactic& t = offered[i];
    if (t.trust == Trust::reference)
      out[i] = "the reference, which runs only where nothing else does";
    else if (level < 4 && t.estimated_us > kHopeless * slower.least_us())
      out[i] = "its estimate is more than 8 times the least one; level 4 measures it";
    else if (level < 4 && slower.leaves_out(t))
      out[i] = "behind the first 2 of a precision that is likely slower; level 4 measures it";
    else if (level <= 2 && worthy == kShortList)
      out[i] = "behind the first 3; level 3 measures it";
    else
      ++worthy;
  }
  if (worthy == 0) out.assign(offered.size(), "");
  return out;
}

std::vector<const Tactic*> worth_measuring(const std::vector<Tactic>& offered, int level) {
  const std::vector<std::string> unworthy = unworthy_of_measuring(offered, level);
  std::vector<const Tactic*> out;
  for (size_t i = 0; i < offered.size(); ++i) {
    if (unworthy[i].empty()) out.push_back(&offered[i]);
  }
  return out;
}

}  // namespace enginery
