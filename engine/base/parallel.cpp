#include "engine/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>

namespace enginery {
namespace {

// Of the calling thread.
int& parallel_limit() {
  thread_local int limit = std::numeric_limits<int>::max();
  return limit;
}

}  // namespace

ParallelLimit::ParallelLimit(int threads) : found_(parallel_limit()) {
  parallel_limit() = std::min(found_, std::max(threads, 1));
}
ParallelLimit::~ParallelLimit() {
  parallel_limit() = found_;
}

std::vector<int> allowed_cores() {
  std::vector<int> cores;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

int allowed_core_count() {
  return static_cast<int>(allowed_cores().size());
}

void parallel_for(int64_t count, const std::function<void(int64_t)>& work) {
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto take = [&] {
    try {
      for (int64_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  const int64_t threads = std::min<int64_t>({allowed_core_count(), parallel_limit(), count});
  std::vector<std::jthread> helpers;
  try {
    for (int64_t i = 1; i < threads; ++i) helpers.emplace_back(take);
  } catch (const std::system_error&) {
    // Those that could be started do it.
  }
  take();
  helpers.clear();
  if (thrown) std::rethrow_exception(thrown);
}

void parallel_ranges(int64_t count, int64_t piece,
                     const std::function<void(int64_t, int64_t)>& work) {
  parallel_for((count + piece - 1) / piece,
               [&](int64_t i) { work(i * piece, std::min(count, (i + 1) * piece)); });
}

}  // namespace enginery
