// CpuStream: the order of work on a CPU is that of the calls; what it owns is the team of threads
// that runs them.
//
// OpenMP keeps one pool of workers for each thread that opens parallel regions, and the program
// that loads an engine may use the same pool for loops of its own. So while a stream computes the
// pool has the stream's size, its workers are bound to cores and flush denormals; afterwards size,
// cores and floating-point mode are those that were found. The calling thread is moved to its own
// core when it strays, but never bound, because threads that it starts would inherit that.
#pragma once

#include <sched.h>

#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/device/device.h"

namespace enginery {

// Which cores the teams of a device use. Thread-safe.
class CpuTeams {
 public:
  CpuTeams(int threads, std::vector<int> cores);
  int threads() const { return threads_; }
  // Whether workers are bound at all: not when there are more threads than cores, nor when
  // OMP_PROC_BIND already does.
  bool bound() const { return bound_; }

  // The place of the calling thread's team beside the others; free for another thread when nobody
  // holds it any longer.
  using Seat = std::shared_ptr<const size_t>;
  Seat seat_of_this_thread();
  // The cores of the team in that seat, the calling thread's own first.
  std::vector<int> cores_of(size_t seat) const;

 private:
  const int threads_;
  const std::vector<int> cores_;
  const bool bound_;
  std::mutex mutex_;
  std::map<std::thread::id, std::weak_ptr<const size_t>> seats_;
};

class CpuStream final : public Stream {
 public:
  explicit CpuStream(std::shared_ptr<CpuTeams> teams) : teams_(std::move(teams)) {}
  Status synchronize() override { return {}; }
  // Calls return when their work is done: there is nothing to wait for.
  Result<std::unique_ptr<Event>> mark() override { return std::make_unique<Event>(); }
  Status wait(const Event&) override { return {}; }
  int threads() const { return teams_->threads(); }

  // Makes the calling thread and its team ready to compute, and gives them back as they were. May
  // be nested: only the outermost pair does anything.
  void enter();
  void leave();

 private:
  // What was found of a worker of the team.
  struct Worker {
    unsigned mode = 0;
    bool bound = false;  // by us: `cores` are to be restored
    cpu_set_t cores;
  };

  void take_seat();

  const std::shared_ptr<CpuTeams> teams_;
  std::thread::id owner_;  // whose seat it is
  CpuTeams::Seat seat_;
  std::vector<int> cores_;  // of the team; empty: not bound
  std::vector<Worker> workers_;
  int depth_ = 0;
  int threads_found_ = 0;
  unsigned mode_found_ = 0;
};

// While it lives the calling thread computes for `stream`: team ready, denormals flushed. Restores
// what it changed of the thread and of its team.
class ComputeScope {
 public:
  explicit ComputeScope(Stream& stream);
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;
  int threads() const { return stream_.threads(); }

 private:
  CpuStream& stream_;
};

}  // namespace enginery
