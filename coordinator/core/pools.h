// Pools: ready steps in fair order, and the workers that wait for one.
//
// A pool holds the steps that the same workers can run. Its order is start-time fair queueing over
// clients: a job's work begins where its client's last share ended, or at the pool's present if the
// client has been idle (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", SIGCOMM 1996). So a
// client with a thousand jobs delays one with a single job by one job's time.
// Where: inside Queue. Knows numbers and names only: no steps, no workers. Threads: as Core.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "coordinator/core/turn.h"

namespace enginery {

// A step's place in a pool: fair start time first, then the age of job and step.
struct QueueKey {
  double start = 0;
  uint64_t job = 0, step = 0;
  auto operator<=>(const QueueKey&) const = default;
};

// For whom a job counts in the fair share, and how much.
struct Share {
  std::string client;
  int32_t priority = 0;  // +100 doubles the client's share, -100 halves it
};

class Pools {
 public:
  // Makes the job's share known; a job that is known keeps its own.
  void add_job(uint64_t job, const Share& share) { jobs_.try_emplace(job, JobShare{share, {}}); }
  void forget_job(uint64_t job) { jobs_.erase(job); }
  // Where the job's work begins in the pool: decided at the first call and the same for all of its
  // targets, so that a job with many targets is charged once a pool.
  double start_of(uint64_t job, const std::string& pool);

  void add(const std::string& pool, const QueueKey& key) { pools_[pool].ready.insert(key); }
  void remove(const std::string& pool, const QueueKey& key) { pools_[pool].ready.erase(key); }
  // Removes the step because it was leased: the pool's present moves on to its start.
  void lease(const std::string& pool, const QueueKey& key);

  bool empty(const std::string& pool) const;
  // The first step in fair order over several pools.
  std::optional<QueueKey> first_of(std::span<const std::string> pools) const;

  // Whether the worker takes work from the pools now.
  void add_idle(std::span<const std::string> pools, WorkerNo worker);
  void remove_idle(std::span<const std::string> pools, WorkerNo worker);
  // The idle worker with the lowest number that is at least `from`.
  std::optional<WorkerNo> idle_from(const std::string& pool, WorkerNo from) const;

  struct Waiting {
    uint64_t first_step;
    size_t count;
  };
  // What each pool that is not empty has ready, in the order of the pools' names.
  std::vector<Waiting> waiting() const;
  // Whether the step is ready in the pool at that place.
  bool holds(const std::string& pool, const QueueKey& key) const;
  size_t ready_count() const;  // over all pools

 private:
  struct Pool {
    std::set<QueueKey> ready;
    std::set<WorkerNo> idle;
    double now = 0;                        // the start time of the latest lease
    std::map<std::string, double> finish;  // by client: where its next share begins
  };
  struct JobShare {
    Share share;
    std::map<std::string, double> start;  // by pool
  };
  std::map<std::string, Pool> pools_;
  std::map<uint64_t, JobShare> jobs_;
};

}  // namespace enginery
