#include "engine/plan/memory.h"

#include <algorithm>
#include <climits>

namespace enginery {
namespace {

int64_t align(int64_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

bool live_together(const Storage& a, const Storage& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

void find_lifetimes(Plan& plan) {
  for (Storage& s : plan.storages) s.first_step = INT_MAX, s.last_step = -1;
  auto touch = [&](int storage, int step) {
    Storage& s = plan.storages[static_cast<size_t>(storage)];
    s.first_step = std::min(s.first_step, step);
    s.last_step = std::max(s.last_step, step);
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    int at = static_cast<int>(i);
    for (int t : step.inputs) {
      if (t >= 0) touch(plan.tensors[static_cast<size_t>(t)].storage, at);
    }
    for (int t : step.outputs) touch(plan.tensors[static_cast<size_t>(t)].storage, at);
    if (step.workspace >= 0) touch(step.workspace, at);
  }
  // Outputs are read after the last step.
  for (int t : plan.outputs) touch(plan.tensors[static_cast<size_t>(t)].storage, static_cast<int>(plan.steps.size()));
}

// The lowest gap that holds `bytes` between the placed storages that live at the same time.
int64_t lowest_gap(const std::vector<const Storage*>& placed, const Storage& wanted) {
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const Storage* s : placed) {
    if (live_together(*s, wanted)) taken.emplace_back(s->offset, s->offset + align(s->bytes));
  }
  std::sort(taken.begin(), taken.end());
  int64_t at = 0;
  for (auto [begin, end] : taken) {
    if (begin - at >= align(wanted.bytes)) break;
    at = std::max(at, end);
  }
  return at;
}

}  // namespace

void plan_memory(Plan& plan) {
  find_lifetimes(plan);
  std::vector<Storage*> arena;
  for (Storage& s : plan.storages) {
    if (s.kind == StorageKind::arena && s.last_step >= 0) arena.push_back(&s);
  }
  std::stable_sort(arena.begin(), arena.end(), [](const Storage* a, const Storage* b) { return a->bytes > b->bytes; });
  std::vector<const Storage*> placed;
  plan.arena_bytes = 0;
  for (Storage* s : arena) {
    s->offset = lowest_gap(placed, *s);
    plan.arena_bytes = std::max(plan.arena_bytes, s->offset + align(s->bytes));
    placed.push_back(s);
  }
}

Status check_memory(const Plan& plan) {
  std::vector<const Storage*> arena;
  for (const Storage& s : plan.storages) {
    if (s.kind != StorageKind::arena || s.last_step < 0) continue;
    if (s.offset < 0 || s.bytes < 0 || s.offset + s.bytes > plan.arena_bytes) {
      return Error{ErrorCode::internal, "memory plan: a storage lies outside the arena"};
    }
    arena.push_back(&s);
  }
  std::sort(arena.begin(), arena.end(), [](const Storage* a, const Storage* b) { return a->first_step < b->first_step; });
  for (size_t i = 0; i < arena.size(); ++i) {
    for (size_t j = i + 1; j < arena.size() && arena[j]->first_step <= arena[i]->last_step; ++j) {
      const Storage &a = *arena[i], &b = *arena[j];
      if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) {
        return Error{ErrorCode::internal, "memory plan: two live storages overlap"};
      }
    }
  }
  return {};
}

}  // namespace enginery
