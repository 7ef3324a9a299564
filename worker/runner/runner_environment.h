// The environment that a runner starts with: cleared, except for the variables that
// find programs and libraries, and set for its SKU. Threads: reads the process's environment; call
// before others change it.
#pragma once

#include <string>
#include <vector>

namespace enginery {

// "NAME=value" strings. For a CPU SKU oneDNN's cap and OpenMP's team; for a GPU the one device that
// it may see.
std::vector<std::string> runner_environment(const std::string& sku, int threads, int device_index);

}  // namespace enginery
