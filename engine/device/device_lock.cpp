#include "engine/device/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "engine/base/file.h"

namespace enginery {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

std::string safe_name(const std::string& physical_id) {
  std::string out;
  for (char c : physical_id) out += isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
  return out;
}

// Another user's file may be opened only without O_CREAT in a sticky folder, so that is tried
// first.
int open_lock_file(const std::filesystem::path& file) {
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0 && errno == ENOENT)
    fd = open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0 && errno == EEXIST) fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  return fd;
}

}  // namespace

Result<DeviceLock> DeviceLock::acquire(const std::string& physical_id,
                                       const DeviceLockOptions& options) {
  std::filesystem::path file = options.folder / ("enginery-" + safe_name(physical_id) + ".lock");
  int fd = open_lock_file(file);
  if (fd < 0) {
    return Error{ErrorCode::storage, "lock device " + physical_id + ": " +
                                         errno_error("open " + file.string(), errno).message};
  }
  DeviceLock lock(fd);
  const SystemClock system_clock;
  const Clock& clock = options.clock ? *options.clock : system_clock;
  const Nanoseconds deadline = clock.monotonic() + options.timeout;
  for (bool first = true; flock(fd, LOCK_EX | LOCK_NB) != 0; first = false) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Error{ErrorCode::storage, errno_error("lock " + file.string(), errno).message};
    }
    if (first && options.waiting) options.waiting();
    if (options.cancelled && options.cancelled()) {
      return Error{ErrorCode::cancelled, "wait for device " + physical_id + ": cancelled"};
    }
    if (clock.monotonic() >= deadline) {
      return Error{ErrorCode::timed_out, "wait for device " + physical_id +
                                             ": another process holds it (" + file.string() +
                                             ") after " + std::to_string(options.timeout.count()) +
                                             " ms"};
    }
    std::this_thread::sleep_for(kPoll);
  }
  return lock;
}

DeviceLock& DeviceLock::operator=(DeviceLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DeviceLock::~DeviceLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace enginery
