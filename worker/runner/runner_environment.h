// The environment that a runner starts with: cleared, except for the few variables that find
// programs and libraries, and set for its SKU. No HOME: what is a person's is no runner's business.
// Threads: reads the process's environment; call before others change it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace enginery {

// "NAME=value" strings. For a CPU SKU oneDNN's cap and OpenMP's team; for a GPU the one device that
// it may see. `home`: the folder in which it keeps compiled kernels (in data/kernels); "": this
// process's data folder.
std::vector<std::string> runner_environment(const std::string& sku, int threads, int device_index,
                                            const std::filesystem::path& home = {});

}  // namespace enginery
