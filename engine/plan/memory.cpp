#include "engine/plan/memory.h"

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <optional>

#include "engine/plan/streams.h"

namespace enginery {
namespace {

int64_t align(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

std::set<size_t> storages_touched(const Plan& plan, const PlanStep& step) {
  std::set<size_t> out = storages_read(plan, step);
  out.merge(storages_written(plan, step));
  return out;
}

// Which storages must keep their bytes at the same time. Storages are meant by their index.
class Lifetimes {
 public:
  explicit Lifetimes(const Plan& plan) : storages_(plan.storages) {
    if (stream_count(plan) == 1) return;
    order_.emplace(plan);
    uses_.resize(plan.storages.size());
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      const PlanStep& step = plan.steps[i];
      if (step.tactic.view_of >= 0) continue;
      for (size_t storage : storages_touched(plan, step)) {
        Use& use = uses_[storage];
        const auto stream = static_cast<size_t>(step.stream);
        if (use.first[stream] < 0) use.first[stream] = static_cast<int>(i);
        use.last[stream] = static_cast<int>(i);
      }
    }
  }

  bool together(size_t a, size_t b) const { return !ends_before(a, b) && !ends_before(b, a); }

  // Whether all steps that touch storage `a` have ended when one begins that touches `b`.
  bool ends_before(size_t a, size_t b) const {
    if (storages_[a].last_step >= storages_[b].first_step) return false;
    if (!order_) return true;
    // Parts of `b` may be written on several streams, none after the other.
    bool any = false;
    for (const int first : uses_[b].first) {
      any = any || first >= 0;
      for (const int last : uses_[a].last) {
        if (first >= 0 && last >= 0 && !order_->before(last, first)) return false;
      }
    }
    return any;
  }

 private:
  // The first and the last step of each stream that touch a storage; -1: none.
  struct Use {
    Use() {
      first.fill(-1);
      last.fill(-1);
    }
    std::array<int, kMaxStreams> first, last;
  };

  const std::vector<Storage>& storages_;
  std::optional<StepOrder> order_;  // null: one stream, the plan's order
  std::vector<Use> uses_;           // of each storage, where there is an order
};

// Which storage had each byte of the arena last.
class Occupants {
 public:
  // Gives [begin, end) to `storage`; false where `may_follow` refuses one of those that had it.
  template <typename F>
  bool take(int64_t begin, int64_t end, size_t storage, F&& may_follow) {
    auto at = intervals_.upper_bound(begin);
    if (at != intervals_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != intervals_.end() && at->first < end) {
      const int64_t former_begin = at->first;
      const Interval former = at->second;
      if (!may_follow(former.storage)) return false;
      at = intervals_.erase(at);
      if (former_begin < begin) intervals_.emplace(former_begin, Interval{begin, former.storage});
      if (former.end > end) intervals_.emplace(end, former);
    }
    intervals_.emplace(begin, Interval{end, storage});
    return true;
  }

 private:
  struct Interval {
    int64_t end;
    size_t storage;
  };
  std::map<int64_t, Interval> intervals_;  // by their begin; disjoint
};

// A storage that has its place.
struct Placed {
  int64_t begin, end;
  size_t storage;
};

// The lowest gap that holds the wanted storage between the placed ones, which are sorted by their
// begin, that live at the same time.
int64_t lowest_gap(const Lifetimes& lifetimes, const std::vector<Placed>& placed, size_t wanted,
                   int64_t bytes) {
  int64_t at = 0;
  for (const Placed& p : placed) {
    if (p.end <= at || !lifetimes.together(p.storage, wanted)) continue;
    if (p.begin - at >= bytes) break;
    at = p.end;
  }
  return at;
}

}  // namespace

void find_lifetimes(Plan& plan) {
  for (Storage& s : plan.storages) {
    s.first_step = INT_MAX;
    s.last_step = -1;
  }
  auto touch = [&](size_t storage, int step) {
    Storage& s = plan.storages[storage];
    s.first_step = std::min(s.first_step, step);
    s.last_step = std::max(s.last_step, step);
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (size_t storage : storages_touched(plan, plan.steps[i]))
      touch(storage, static_cast<int>(i));
  }
  // Outputs are read after the last step.
  for (int t : plan.outputs)
    touch(static_cast<size_t>(plan.tensors[static_cast<size_t>(t)].storage),
          static_cast<int>(plan.steps.size()));
}

void plan_memory(Plan& plan) {
  find_lifetimes(plan);
  const Lifetimes lifetimes(plan);
  std::vector<size_t> arena;
  std::vector<Placed> placed;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    if (plan.storages[i].kind == StorageKind::arena && plan.storages[i].last_step >= 0)
      arena.push_back(i);
  }
  std::stable_sort(arena.begin(), arena.end(), [&](size_t a, size_t b) {
    return plan.storages[a].bytes > plan.storages[b].bytes;
  });
  plan.arena_bytes = 0;
  for (size_t i : arena) {
    Storage& s = plan.storages[i];
    const int64_t bytes = align(s.bytes);
    s.offset = lowest_gap(lifetimes, placed, i, bytes);
    plan.arena_bytes = std::max(plan.arena_bytes, s.offset + bytes);
    const auto behind = std::upper_bound(placed.begin(), placed.end(), s.offset,
                                         [](int64_t at, const Placed& p) { return at < p.begin; });
    placed.insert(behind, {s.offset, s.offset + bytes, i});
  }
}

Status check_memory(const Plan& plan) {
  std::vector<size_t> arena;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const Storage& s = plan.storages[i];
    if (s.kind != StorageKind::arena || s.last_step < 0) continue;
    if (s.offset < 0 || s.bytes < 0 || s.bytes > plan.arena_bytes ||
        s.offset > plan.arena_bytes - s.bytes) {
      return Error{ErrorCode::internal, "memory plan: a storage lies outside the arena"};
    }
    if (s.bytes > 0) arena.push_back(i);
  }
  std::stable_sort(arena.begin(), arena.end(), [&](size_t a, size_t b) {
    return plan.storages[a].first_step < plan.storages[b].first_step;
  });
  // A byte belongs to one storage after the other. It is enough to look at the last one: those
  // before it had ended when it began.
  const Lifetimes lifetimes(plan);
  Occupants occupants;
  for (size_t i : arena) {
    const Storage& s = plan.storages[i];
    const auto may_follow = [&](size_t former) { return lifetimes.ends_before(former, i); };
    if (!occupants.take(s.offset, s.offset + s.bytes, i, may_follow))
      return Error{ErrorCode::internal, "memory plan: two live storages overlap"};
  }
  return {};
}

}  // namespace enginery
