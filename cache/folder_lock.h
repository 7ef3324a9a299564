// One holder per folder: a lock file that the kernel frees when its process dies.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "engine/base/result.h"

namespace enginery {

// Holds <folder>/<name>.lock (flock) until it dies. Moved, never copied; any thread.
class FolderLock {
 public:
  // A storage error that names the holder's process id when the lock is still taken after
  // `patience`; it ends with `advice`, what the user may do then.
  static Result<FolderLock> acquire(
      const std::filesystem::path& folder, const std::string& name,
      std::chrono::milliseconds patience = std::chrono::milliseconds(0),
      const std::string& advice = {});
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace enginery
