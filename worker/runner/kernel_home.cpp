#include "worker/runner/kernel_home.h"

#include <algorithm>
#include <vector>

#include "engine/base/file.h"

namespace enginery {
namespace {

namespace fs = std::filesystem;

// Nothing in the folders is followed: a runner may have left anything there.
void keep_newest(const fs::path& base, const fs::path& own, size_t kept) {
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored))
    if (entry.path() != own) others.emplace_back(entry.last_write_time(ignored), entry.path());
  if (others.size() < kept) return;
  std::sort(others.begin(), others.end());
  others.resize(others.size() + 1 - kept);
  for (const auto& [time, path] : others) fs::remove_all(path, ignored);
}

}  // namespace

Result<fs::path> kernel_home(const fs::path& base, const Digest& build, size_t kept) {
  const fs::path own = base / build.hex();
  CHECK_OK(make_folder(own));
  std::error_code ignored;
  fs::last_write_time(own, fs::file_time_type::clock::now(), ignored);
  keep_newest(base, own, kept);
  return own;
}

}  // namespace enginery
