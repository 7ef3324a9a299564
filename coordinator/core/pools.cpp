#include "coordinator/core/pools.h"

#include <algorithm>
#include <cmath>

namespace enginery {

void Pools::add(const std::string& pool_name, uint64_t step, const std::set<Waiter>& waiters) {
  Where& where = where_[step];
  where.pool = pool_name;
  // In the order of the jobs: a client stands in line with its oldest one.
  for (const Waiter& waiter : waiters)
    where.places.try_emplace(jobs_.at(waiter.job).client, Place{waiter.job, step});
  Pool& pool = pools_[pool_name];
  pool.steps.insert(step);
  for (const auto& [client, place] : where.places) {
    pool.lines[client].insert(place);
    clocks_.step_ready(client);
  }
}

void Pools::remove(uint64_t step) {
  const auto found = where_.find(step);
  if (found == where_.end()) return;
  Pool& pool = pools_.at(found->second.pool);
  pool.steps.erase(step);
  for (const auto& [client, place] : found->second.places) {
    const auto line = pool.lines.find(client);
    line->second.erase(place);
    if (line->second.empty()) pool.lines.erase(line);
    clocks_.step_left(client);
  }
  where_.erase(found);
}

Charge Pools::lease(const Place& place, double guess_seconds, Nanoseconds now) {
  const Share& share = jobs_.at(place.job);
  Charge charge{share.client, std::exp2(-share.priority / 100.0), 0};
  clocks_.step_begins(share.client);
  remove(place.step);
  this->charge(charge, guess_seconds, now);
  return charge;
}

void Pools::charge(Charge& charge, double taken_seconds, Nanoseconds now) {
  if (charge.client.empty()) return;
  clocks_.charge(charge.client, (taken_seconds - charge.seconds) * charge.weight, now);
  charge.seconds = taken_seconds;
}

void Pools::end(const Charge& charge) {
  if (!charge.client.empty()) clocks_.step_ends(charge.client);
}

bool Pools::empty(const std::string& pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() || found->second.steps.empty();
}

std::optional<Head> Pools::first_of(std::span<const std::string> pools,
                                    const MayTake& may_take) const {
  std::optional<Head> first;
  for (const std::string& name : pools) {
    const auto pool = pools_.find(name);
    if (pool == pools_.end()) continue;
    for (const auto& [client, line] : pool->second.lines) {
      const ClientClocks::Claim claim = clocks_.claim_of(client);
      const auto next = std::find_if(line.begin(), line.end(), [&](const Place& place) {
        return (first && *first < Head{claim, place}) || may_take(place.step);
      });
      if (next == line.end()) continue;
      const Head head{claim, *next};
      if (!first || head < *first) first = head;
    }
  }
  return first;
}

void Pools::add_serving(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].serving.insert(worker);
}

void Pools::remove_serving(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].serving.erase(worker);
}

void Pools::add_idle(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].idle.insert(worker);
}

void Pools::remove_idle(std::span<const std::string> pools, WorkerNo worker) {
  for (const std::string& pool : pools) pools_[pool].idle.erase(worker);
}

const std::set<WorkerNo>& Pools::serving(const std::string& pool) const {
  static const std::set<WorkerNo> nobody;
  const auto found = pools_.find(pool);
  return found == pools_.end() ? nobody : found->second.serving;
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
    if (!pool.steps.empty()) out.push_back({*pool.steps.begin(), pool.steps.size()});
  return out;
}

}  // namespace enginery
