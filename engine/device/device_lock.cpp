#include "engine/device/device_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
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

// "enginery build x.onnx" of a process; "" where it is not told.
std::string command_of(const std::string& pid) {
  constexpr size_t kLongest = 60;
  Result<Bytes> words = read_file("/proc/" + pid + "/cmdline", 4096);
  if (!words.ok() || words->empty()) return "";
  std::string line = std::filesystem::path(words->c_str()).filename().string() +
                     words->substr(std::min(words->find('\0'), words->size()));
  std::replace(line.begin(), line.end(), '\0', ' ');
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  line.erase(line.find_last_not_of(' ') + 1);
  return line.size() > kLongest ? line.substr(0, kLongest) + "..." : line;
}

// Who holds the lock of the open file, by the kernel's list: "1: FLOCK ADVISORY WRITE PID
// MAJOR:MINOR:INODE 0 EOF", the numbers of the device in hexadecimal.
std::string holder_of(int fd) {
  struct stat info {};
  const Result<Bytes> list = read_file("/proc/locks", 1 << 20);
  if (fstat(fd, &info) != 0 || !list.ok()) return "another process";
  const std::string inode = ":" + std::to_string(info.st_ino);
  std::istringstream lines(*list);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, pid, file;
    words >> number >> kind >> mode >> access >> pid >> file;
    if (kind != "FLOCK" || !file.ends_with(inode)) continue;
    const std::string command = command_of(pid);
    return "process " + pid + (command.empty() ? "" : " (" + command + ")");
  }
  return "another process";
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
  std::string holder = "another process";
  for (bool first = true; flock(fd, LOCK_EX | LOCK_NB) != 0; first = false) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Error{ErrorCode::storage, errno_error("lock " + file.string(), errno).message};
    }
    if (first) {
      holder = holder_of(fd);
      if (options.waiting) options.waiting(holder);
    }
    if (options.cancelled && options.cancelled()) {
      return Error{ErrorCode::cancelled,
                   "waiting for the device, which " + holder + " uses, was cancelled"};
    }
    if (clock.monotonic() >= deadline) {
      return Error{ErrorCode::timed_out, "wait for device " + physical_id + ": " + holder +
                                             " holds it (" + file.string() + ") after " +
                                             std::to_string(options.timeout.count()) + " ms"};
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
