// Where the sandboxed runners of a build keep the kernels that they compile: a folder for each
// build. A runner may have been taken over by its model, and no digest tells a compiled kernel from
// a planted one: so what it leaves is loaded by runners of the same build alone.
//
// Where: the agent and local builds make it a runner's home (runner_environment), the only folder
// beside its outputs that it can write. Threads and processes: any; a folder may go at any time,
// which costs compiling.
#pragma once

#include <filesystem>

#include "engine/base/digest.h"

namespace enginery {

inline constexpr size_t kKernelHomes = 64;  // of builds, so many stay

// `base`/DIGITS, which is made, and with it `base`. Of the others there those go that were used
// longest ago. Errors: storage.
Result<std::filesystem::path> kernel_home(const std::filesystem::path& base, const Digest& build,
                                          size_t kept = kKernelHomes);

}  // namespace enginery
