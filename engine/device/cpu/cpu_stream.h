// CpuStream: the order of work on a CPU is that of the calls; what it owns is the team of threads
// that runs them.
//
// OpenMP keeps one pool of workers for each thread that opens parallel regions. A stream gives that
// pool its size, binds its workers to cores and makes them flush denormals; the calling thread is
// moved to its own core when it strays, but never left bound, because threads that it starts later
// would inherit that.
#pragma once

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
  // The cores of the team of the calling thread, its own first.
  std::vector<int> cores_of_this_thread();

 private:
  const int threads_;
  const std::vector<int> cores_;
  const bool bound_;
  std::mutex mutex_;
  std::map<std::thread::id, size_t> ordinals_;
};

class CpuStream final : public Stream {
 public:
  explicit CpuStream(std::shared_ptr<CpuTeams> teams) : teams_(std::move(teams)) {}
  Status synchronize() override { return {}; }
  // Calls return when their work is done: there is nothing to wait for.
  Result<std::unique_ptr<Event>> mark() override { return std::make_unique<Event>(); }
  Status wait(const Event&) override { return {}; }
  int threads() const { return teams_->threads(); }

  // Makes the calling thread and its team ready to compute; cheap when they are.
  void enter();

 private:
  void prepare_team();

  const std::shared_ptr<CpuTeams> teams_;
  std::thread::id owner_;
  int home_ = -1;  // the calling thread's core; -1: not bound
};

// While it lives the calling thread computes for `stream`: team ready, denormals flushed. Restores
// the thread's own floating-point mode.
class ComputeScope {
 public:
  explicit ComputeScope(Stream& stream);
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;
  int threads() const { return threads_; }

 private:
  const unsigned saved_;
  int threads_;
};

}  // namespace enginery
