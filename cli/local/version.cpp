#include "cli/local/version.h"

#include <fmt/format.h>

namespace enginery {

std::string software_version() {
  return ENGINERY_VERSION;
}

bool has_cuda_headers() {
#ifdef ENGINERY_HAVE_CUDA
  return true;
#else
  return false;
#endif
}

std::string compiler_version() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace enginery
