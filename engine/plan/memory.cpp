#include "engine/plan/memory.h"

#include <algorithm>
#include <climits>
#include <optional>

#include "engine/plan/streams.h"

namespace enginery {
namespace {

int64_t align(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool overlap(const Storage& a, const Storage& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
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
    steps_.resize(plan.storages.size());
    for (size_t i = 0; i < plan.steps.size(); ++i) {
      if (plan.steps[i].tactic.view_of >= 0) continue;
      for (size_t storage : storages_touched(plan, plan.steps[i]))
        steps_[storage].push_back(static_cast<int>(i));
    }
  }

  bool together(size_t a, size_t b) const {
    if (overlap(storages_[a], storages_[b])) return true;
    return order_ && !ends_before(a, b) && !ends_before(b, a);
  }

 private:
  bool ends_before(size_t a, size_t b) const {
    if (storages_[a].last_step >= storages_[b].first_step || steps_[b].empty()) return false;
    int first = steps_[b].front();
    return std::all_of(steps_[a].begin(), steps_[a].end(),
                       [&](int step) { return order_->before(step, first); });
  }

  const std::vector<Storage>& storages_;
  std::optional<StepOrder> order_;       // null: one stream, the plan's order
  std::vector<std::vector<int>> steps_;  // that touch each storage, ascending
};

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

// The lowest gap that holds the wanted storage between the placed ones that live at the same time.
int64_t lowest_gap(const Plan& plan, const Lifetimes& lifetimes, const std::vector<size_t>& placed,
                   size_t wanted) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (size_t p : placed) {
    const Storage& s = plan.storages[p];
    if (lifetimes.together(p, wanted)) taken.emplace_back(s.offset, s.offset + align(s.bytes));
  }
  const int64_t bytes = align(plan.storages[wanted].bytes);
  std::sort(taken.begin(), taken.end());
  int64_t at = 0;
  for (auto [begin, end] : taken) {
    if (begin - at >= bytes) break;
    at = std::max(at, end);
  }
  return at;
}

}  // namespace

void plan_memory(Plan& plan) {
  find_lifetimes(plan);
  const Lifetimes lifetimes(plan);
  std::vector<size_t> arena, placed;
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
    s.offset = lowest_gap(plan, lifetimes, placed, i);
    plan.arena_bytes = std::max(plan.arena_bytes, s.offset + align(s.bytes));
    placed.push_back(i);
  }
}

Status check_memory(const Plan& plan) {
  std::vector<size_t> arena;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const Storage& s = plan.storages[i];
    if (s.kind != StorageKind::arena || s.last_step < 0) continue;
    if (s.offset < 0 || s.bytes < 0 || s.offset + s.bytes > plan.arena_bytes) {
      return Error{ErrorCode::internal, "memory plan: a storage lies outside the arena"};
    }
    arena.push_back(i);
  }
  std::sort(arena.begin(), arena.end(), [&](size_t a, size_t b) {
    return plan.storages[a].first_step < plan.storages[b].first_step;
  });
  const Lifetimes lifetimes(plan);
  const bool in_order = stream_count(plan) == 1;
  for (size_t i = 0; i < arena.size(); ++i) {
    const Storage& a = plan.storages[arena[i]];
    for (size_t j = i + 1; j < arena.size(); ++j) {
      const Storage& b = plan.storages[arena[j]];
      if (in_order && b.first_step > a.last_step) break;
      if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes &&
          lifetimes.together(arena[i], arena[j])) {
        return Error{ErrorCode::internal, "memory plan: two live storages overlap"};
      }
    }
  }
  return {};
}

}  // namespace enginery
