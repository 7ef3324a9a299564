// Work spread over the machine's cores: for the reference and for preparing candidates.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace enginery {

// The cores that this process may run on (its affinity mask), in ascending order; never empty.
std::vector<int> allowed_cores();
// How many these are: the default of every `--threads`.
int allowed_core_count();

// While it lives, what the calling thread spreads over cores takes at most that many of them: a
// reference that is a step of an engine runs with the engine's threads. May be nested: the least
// holds.
class ParallelLimit {
 public:
  explicit ParallelLimit(int threads);
  ~ParallelLimit();
  ParallelLimit(const ParallelLimit&) = delete;
  ParallelLimit& operator=(const ParallelLimit&) = delete;

 private:
  const int found_;
};

// Calls work(0) .. work(count - 1), each once, from at most as many threads as this process has
// cores and the caller's ParallelLimit allows. Where one throws, the rest is left out and the
// caller gets the exception.
void parallel_for(int64_t count, const std::function<void(int64_t)>& work);

// Divides [0, count) into ranges of `piece` (the last may be shorter) and calls work(begin, end)
// for each, side by side; a single range runs on the calling thread.
void parallel_ranges(int64_t count, int64_t piece,
                     const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace enginery
