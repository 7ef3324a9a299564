#include "coordinator/core/farm_views.h"

namespace enginery {
namespace {

constexpr size_t kMaxWorkersListed = 1000;
constexpr size_t kMaxHealthShown = 200;  // bytes

WorkerCondition condition(const Queue& queue, const LiveWorker& worker) {
  if (worker.lost) return WorkerCondition::lost;
  if (worker.drain || worker.sync.prefer_idle) return WorkerCondition::draining;
  return queue.load_of(worker) == Load::none ? WorkerCondition::idle : WorkerCondition::busy;
}

}  // namespace

SkuList sku_list(const Queue& queue) {
  std::map<std::string, SkuView> views;
  for (const auto& [name, row] : queue.skus()) views[name] = {name, row.kind, row.toolchain};
  for (const LiveWorker& worker : queue.workers()) {
    if (worker.lost || !worker.reported) continue;
    SkuView& view = views[worker.sync.sku];
    ++view.workers;
    view.idle += condition(queue, worker) == WorkerCondition::idle;
  }
  for (const Pools::Waiting& waiting : queue.pools().waiting()) {
    const auto view = views.find(queue.step(waiting.first_step).row.sku);
    if (view != views.end()) view->second.queued += static_cast<uint32_t>(waiting.count);
  }
  SkuList list;
  for (auto& [name, view] : views) list.skus.push_back(std::move(view));
  return list;
}

WorkerList worker_list(const Queue& queue, Now now) {
  WorkerList list;
  for (const auto& [name, number] : queue.workers_by_name()) {
    if (list.workers.size() == kMaxWorkersListed) break;
    const LiveWorker& worker = queue.worker(number);
    WorkerView view{name,
                    worker.sync.sku,
                    condition(queue, worker),
                    worker.sync.pid,
                    worker.sync.host,
                    worker.sync.device};
    view.last_seen_seconds = to_seconds(now.monotonic - worker.seen);
    view.health = worker.sync.health.substr(0, kMaxHealthShown);
    if (worker.lease != 0) {
      const LiveStep& step = queue.step(worker.lease);
      view.job = job_id(step.row.job);
      view.step = queue.name_of(step.row.kind);
      view.progress = step.progress;
    }
    list.workers.push_back(std::move(view));
  }
  return list;
}

}  // namespace enginery
