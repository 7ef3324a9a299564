#include "coordinator/core/farm_views.h"

#include <algorithm>
#include <cmath>

namespace enginery {
namespace {

constexpr size_t kMaxWorkersListed = 1000;
constexpr size_t kMaxHealthShown = 200;  // bytes

WorkerCondition condition(const Queue& queue, const LiveWorker& worker) {
  if (worker.lost) return WorkerCondition::lost;
  if (!worker.quarantine.empty()) return WorkerCondition::quarantined;
  if (worker.drain || worker.sync.prefer_idle) return WorkerCondition::draining;
  return queue.load_of(worker) == Load::none ? WorkerCondition::idle : WorkerCondition::busy;
}

// A worker's own numbers, those that are numbers.
DeviceReading cleaned(DeviceReading reading) {
  for (double* number :
       {&reading.clock_mhz, &reading.memory_clock_mhz, &reading.temperature_c, &reading.power_w})
    if (!std::isfinite(*number) || *number < 0) *number = 0;
  return reading;
}

WorkerView worker_view(const Queue& queue, const LiveWorker& worker, Now now) {
  WorkerView view{worker.sync.worker, worker.sync.sku,  condition(queue, worker),
                  worker.sync.pid,    worker.sync.host, worker.sync.device};
  view.last_seen_seconds = to_seconds(now.monotonic - worker.seen);
  view.reason = worker.quarantine;
  view.health = worker.sync.health.substr(0, kMaxHealthShown);
  view.reading = cleaned(worker.sync.reading);
  if (worker.lease == 0) return view;
  const LiveStep& step = queue.step(worker.lease);
  view.job = job_id(step.row.job);
  view.step = queue.name_of(step.row.kind);
  view.progress = step.progress;
  return view;
}

void add_toolchain(SkuView& view, ToolchainView toolchain) {
  view.workers += toolchain.workers;
  view.idle += toolchain.idle;
  view.toolchains.push_back(std::move(toolchain));
}

// The toolchain that most workers have comes first; among equals the one that came last.
void put_first(SkuView& view, const OfferedSkus& skus) {
  const auto rank = [&](const ToolchainView& toolchain) {
    return std::pair(toolchain.workers, skus.at({view.sku, toolchain.toolchain}).row.seen_ns);
  };
  std::stable_sort(
      view.toolchains.begin(), view.toolchains.end(),
      [&](const ToolchainView& a, const ToolchainView& b) { return rank(a) > rank(b); });
  view.toolchain = view.toolchains.front().toolchain;
}

}  // namespace

std::vector<WorkerNo> living_first(const Queue& queue) {
  std::vector<WorkerNo> living, lost;
  for (const auto& [name, number] : queue.workers_by_name())
    (queue.worker(number).lost ? lost : living).push_back(number);
  living.insert(living.end(), lost.begin(), lost.end());
  return living;
}

SkuList sku_list(const Queue& queue) {
  std::map<SkuToolchain, ToolchainView> offered;
  std::map<std::string, SkuView> views;
  for (const auto& [name, sku] : queue.skus()) {
    offered[name].toolchain = name.second;
    views[name.first] = {name.first, sku.row.kind};
  }
  for (const auto& [number, worker] : queue.workers()) {
    if (!worker.counted_as) continue;
    ToolchainView& view = offered[*worker.counted_as];
    ++view.workers;
    view.idle += condition(queue, worker) == WorkerCondition::idle;
  }
  for (const Pools::Waiting& waiting : queue.pools().waiting()) {
    const StepRow& row = queue.step(waiting.first_step).row;
    const auto count = static_cast<uint32_t>(waiting.count);
    if (const auto view = views.find(row.sku); view != views.end()) view->second.queued += count;
    if (const auto view = offered.find({row.sku, row.toolchain}); view != offered.end())
      view->second.queued += count;
  }
  for (auto& [name, view] : offered) add_toolchain(views[name.first], std::move(view));
  SkuList list;
  for (auto& [name, view] : views) {
    put_first(view, queue.skus());
    list.skus.push_back(std::move(view));
  }
  return list;
}

WorkerList worker_list(const Queue& queue, Now now) {
  WorkerList list;
  for (const WorkerNo number : living_first(queue)) {
    if (list.workers.size() == kMaxWorkersListed) break;
    list.workers.push_back(worker_view(queue, queue.worker(number), now));
  }
  return list;
}

}  // namespace enginery
