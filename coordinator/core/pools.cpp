#include "coordinator/core/pools.h"

#include <algorithm>
#include <cmath>

namespace enginery {

double Pools::start_of(uint64_t job, const std::string& pool_name) {
  JobShare& known = jobs_.at(job);
  const auto decided = known.start.find(pool_name);
  if (decided != known.start.end()) return decided->second;
  Pool& pool = pools_[pool_name];
  double& finish = pool.finish[known.share.client];
  const double start = std::max(pool.now, finish);
  finish = start + std::exp2(-known.share.priority / 100.0);
  known.start.emplace(pool_name, start);
  return start;
}

void Pools::lease(const std::string& pool_name, const QueueKey& key) {
  Pool& pool = pools_[pool_name];
  pool.now = std::max(pool.now, key.start);
  pool.ready.erase(key);
}

bool Pools::empty(const std::string& pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() || found->second.ready.empty();
}

std::optional<QueueKey> Pools::first_of(std::span<const std::string> pools) const {
  std::optional<QueueKey> first;
  for (const std::string& name : pools) {
    const auto pool = pools_.find(name);
    if (pool == pools_.end() || pool->second.ready.empty()) continue;
    const QueueKey& head = *pool->second.ready.begin();
    if (!first || head < *first) first = head;
  }
  return first;
}

void Pools::add_idle(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].idle.insert(worker);
}

void Pools::remove_idle(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].idle.erase(worker);
}

std::optional<WorkerNo> Pools::idle_from(const std::string& pool, WorkerNo from) const {
  const auto found = pools_.find(pool);
  if (found == pools_.end()) return std::nullopt;
  const auto worker = found->second.idle.lower_bound(from);
  if (worker == found->second.idle.end()) return std::nullopt;
  return *worker;
}

std::vector<Pools::Waiting> Pools::waiting() const {
  std::vector<Waiting> out;
  for (const auto& [name, pool] : pools_)
    if (!pool.ready.empty()) out.push_back({pool.ready.begin()->step, pool.ready.size()});
  return out;
}

bool Pools::holds(const std::string& pool, const QueueKey& key) const {
  const auto found = pools_.find(pool);
  return found != pools_.end() && found->second.ready.count(key) != 0;
}

size_t Pools::ready_count() const {
  size_t count = 0;
  for (const auto& [name, pool] : pools_) count += pool.ready.size();
  return count;
}

}  // namespace enginery
