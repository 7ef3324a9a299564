#include "tuner/compile_ahead.h"

#include <algorithm>
#include <chrono>

#include "engine/plan/network.h"

namespace enginery {

CompileAhead::CompileAhead(const TacticSources& sources, std::vector<Job> jobs, InFlight in_flight)
    : sources_(sources), jobs_(std::move(jobs)), in_flight_(std::move(in_flight)) {
  auto comes_first = [&](const Job& job) {
    return !find_source(sources_, job.tactic->source)->traits().compiles_beside_timing;
  };
  first_ = static_cast<size_t>(std::stable_partition(jobs_.begin(), jobs_.end(), comes_first) -
                               jobs_.begin());
  // A compiler takes some 100 MB, and a host of eight GPUs may tune on each.
  constexpr unsigned kMaxThreads = 32;
  const size_t beside_the_timing =
      std::clamp(std::thread::hardware_concurrency(), 2u, kMaxThreads + 1) - 1;
  for (size_t i = 0; i < std::min(beside_the_timing, jobs_.size()); ++i)
    threads_.emplace_back([this] { take_jobs(); });
}

CompileAhead::~CompileAhead() {
  const std::lock_guard lock(mutex_);
  next_ = jobs_.size();
}

void CompileAhead::take_jobs() {
  std::unique_lock lock(mutex_);
  while (next_ < jobs_.size()) {
    const size_t index = next_++;
    lock.unlock();
    const Job& job = jobs_[index];
    in_flight_(job, false);
    find_source(sources_, job.tactic->source)->compile_ahead(*job.problem, *job.tactic);
    in_flight_(job, true);
    lock.lock();
    if (index < first_ && ++first_done_ == first_) ended_.notify_all();
  }
}

bool CompileAhead::wait(const std::function<void(int done, int total)>& progress,
                        const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (first_done_ < first_) {
    const auto done = static_cast<int>(first_done_);
    lock.unlock();
    if (cancelled()) return false;
    progress(done, static_cast<int>(first_));
    lock.lock();
    ended_.wait_for(lock, std::chrono::milliseconds(200), [&] { return first_done_ == first_; });
  }
  return true;
}

}  // namespace enginery
