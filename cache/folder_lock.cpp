#include "cache/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "engine/base/file.h"

namespace enginery {
namespace {

std::string holder(int fd) {
  char text[32] = {};
  ssize_t size = pread(fd, text, sizeof text - 1, 0);
  std::string pid(text, size > 0 ? static_cast<size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid.empty() ? "another process" : "process " + pid;
}

void write_own_pid(int fd) {
  std::string pid = std::to_string(getpid()) + "\n";
  // Only for the other side's message: a failure (full disk) must not refuse the lock.
  if (ftruncate(fd, 0) == 0) (void)!pwrite(fd, pid.data(), pid.size(), 0);
}

}  // namespace

Result<FolderLock> FolderLock::acquire(const std::filesystem::path& folder, const std::string& name,
                                       std::chrono::milliseconds patience,
                                       const std::string& advice) {
  std::filesystem::path file = folder / (name + ".lock");
  int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0)
    return Error{ErrorCode::storage, "lock " + file.string() + ": " + std::strerror(errno)};
  FolderLock lock(fd);
  auto deadline = std::chrono::steady_clock::now() + patience;
  while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Error{ErrorCode::storage, "lock " + file.string() + ": " + std::strerror(errno)};
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return Error{ErrorCode::storage,
                   "lock " + file.string() + ": in use by " + holder(fd) + advice};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  write_own_pid(fd);
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace enginery
