#include "cli/process/up_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "engine/base/file.h"

namespace enginery {
namespace {

pid_t read_pid(int descriptor) {
  char text[32] = {};
  const ssize_t size = pread(descriptor, text, sizeof text - 1, 0);
  return size > 0 ? static_cast<pid_t>(std::atol(text)) : 0;
}

}  // namespace

std::filesystem::path up_lock_file() {
  return state_folder() / "up.pid";
}
std::filesystem::path up_log_file() {
  return state_folder() / "up.log";
}

Result<UpLock> UpLock::acquire() {
  CHECK_OK(make_folder(state_folder()));
  const std::string file = up_lock_file().string();
  UpLock lock(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ < 0) return errno_error("open " + file, errno);
  if (flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::storage, "another `enginery up` runs already (pid " +
                                         std::to_string(read_pid(lock.descriptor_)) +
                                         "); stop it with: enginery down"};
  }
  CHECK_OK(lock.write_pid());
  return lock;
}

Status UpLock::write_pid() const {
  const std::string text = std::to_string(getpid()) + "\n";
  const bool written =
      ftruncate(descriptor_, 0) == 0 &&
      pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
  if (!written) return errno_error("write " + up_lock_file().string(), errno);
  return {};
}

UpLock::~UpLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

Result<pid_t> running_up() {
  const int descriptor = open(up_lock_file().c_str(), O_RDONLY | O_CLOEXEC);
  const bool held = descriptor >= 0 && flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  const pid_t pid = held ? read_pid(descriptor) : 0;
  if (descriptor >= 0) close(descriptor);
  if (pid <= 0) return Error{ErrorCode::not_found, "no `enginery up` runs here"};
  return pid;
}

bool wait_for_end_of_up(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (std::chrono::steady_clock::now() < deadline) {
    if (!running_up().ok()) return true;
    usleep(20'000);
  }
  return !running_up().ok();
}

}  // namespace enginery
