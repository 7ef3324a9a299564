// Pools: ready steps in fair order, and the workers that wait for one.
//
// A pool holds the steps that the same workers can run, as one line for each client: a worker takes
// from the client whose clock (client_clocks.h) is furthest behind, over all of its pools, and of
// that client the oldest job's step. A step that several clients wait for stands in all their
// lines. So a client with a thousand jobs delays one with a single job by one step's time.
// Where: inside Queue. Knows numbers and names only: no steps, no workers. Threads: as Core.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "coordinator/core/client_clocks.h"

namespace enginery {

// A step's place in its client's line: the age of the job that wants it, then its own.
struct Place {
  uint64_t job = 0, step = 0;
  auto operator<=>(const Place&) const = default;
};

// The place that is served first of all that were asked about.
struct Head {
  ClientClocks::Claim claim;
  Place place;
  auto operator<=>(const Head&) const = default;
};

// For whom a job counts in the fair share, and how much.
struct Share {
  std::string client;
  int32_t priority = 0;  // +100 doubles the client's share, -100 halves it
};

// Who pays for a step that runs: `seconds` is what was charged so far.
struct Charge {
  std::string client;  // "": nobody, as for what ran before the coordinator started
  double weight = 1;   // of a second: 2 to the power of -priority / 100
  double seconds = 0;
};

class Pools {
 public:
  // Whether a worker may take the step.
  using MayTake = std::function<bool(uint64_t step)>;

  // Makes the job's share known; a job that is known keeps its own.
  void add_job(uint64_t job, const Share& share) { jobs_.try_emplace(job, share); }
  void forget_job(uint64_t job) { jobs_.erase(job); }

  // Puts the step in the lines of the clients of those who wait for it; it is in no pool yet.
  void add(const std::string& pool, uint64_t step, const std::set<Waiter>& waiters);
  void remove(uint64_t step);  // nothing happens when it is in no pool
  // Removes the step because it was leased for the job: its client is charged the guess.
  Charge lease(const Place& place, double guess_seconds, Nanoseconds now);
  // The step has taken that many seconds in all: puts right what was charged.
  void charge(Charge& charge, double taken_seconds, Nanoseconds now);
  // It does not run any longer.
  void end(const Charge& charge);

  bool empty(const std::string& pool) const;
  // The first step in fair order over several pools that may be taken.
  std::optional<Head> first_of(std::span<const std::string> pools, const MayTake& may_take) const;

  // Whether the worker takes work from the pools at all.
  void add_serving(std::span<const std::string> pools, WorkerNo worker);
  void remove_serving(std::span<const std::string> pools, WorkerNo worker);
  // Whether it does now.
  void add_idle(std::span<const std::string> pools, WorkerNo worker);
  void remove_idle(std::span<const std::string> pools, WorkerNo worker);
  // The workers that serve the pool, idle or not.
  const std::set<WorkerNo>& serving(const std::string& pool) const;
  // The idle worker with the lowest number that is at least `from`.
  std::optional<WorkerNo> idle_from(const std::string& pool, WorkerNo from) const;

  struct Waiting {
    uint64_t first_step;
    size_t count;
  };
  // What each pool that is not empty has ready, in the order of the pools' names.
  std::vector<Waiting> waiting() const;
  bool holds(uint64_t step) const { return where_.count(step) != 0; }
  size_t ready_count() const { return where_.size(); }  // over all pools

 private:
  struct Pool {
    std::map<std::string, std::set<Place>> lines;  // by client; none is empty
    std::set<uint64_t> steps;
    std::set<WorkerNo> idle, serving;
  };
  struct Where {
    std::string pool;
    std::map<std::string, Place> places;  // by client
  };
  std::map<std::string, Pool> pools_;
  std::map<uint64_t, Where> where_;  // by step
  std::map<uint64_t, Share> jobs_;
  ClientClocks clocks_;
};

}  // namespace enginery
