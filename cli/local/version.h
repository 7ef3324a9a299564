// What this binary was built from. The values come from CMake.
#pragma once

#include <string>

namespace enginery {

std::string software_version();  // "0.1.0"
bool has_cuda_headers();         // whether GPU code was compiled in
std::string compiler_version();  // "GCC 12.2.0"

}  // namespace enginery
