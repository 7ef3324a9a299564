#include "engine/base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace enginery {

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
  const auto take = [&] {
    for (int64_t i = next++; i < count; i = next++) work(i);
  };
  const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> helpers;
  for (int64_t i = 1; i < std::min(cores, count); ++i) helpers.emplace_back(take);
  take();
}

void parallel_ranges(int64_t count, int64_t piece,
                     const std::function<void(int64_t, int64_t)>& work) {
  parallel_for((count + piece - 1) / piece,
               [&](int64_t i) { work(i * piece, std::min(count, (i + 1) * piece)); });
}

}  // namespace enginery
