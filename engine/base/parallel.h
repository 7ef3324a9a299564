// Work spread over the machine's cores: for the reference and for preparing candidates, never inside a timed region.
#pragma once

#include <cstdint>
#include <functional>

namespace enginery {

// Calls work(0) .. work(count - 1), each once, from as many threads as there are cores, and returns when all are done.
// `work` must not throw.
void parallel_for(int64_t count, const std::function<void(int64_t)>& work);

}  // namespace enginery
