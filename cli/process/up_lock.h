// One `up` per state folder: the lock that it holds and that `down` waits for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>

#include "engine/base/result.h"

namespace enginery {

std::filesystem::path up_lock_file();  // up.pid in the state folder
std::filesystem::path up_log_file();   // where a detached `up` writes

// Held as long as it lives; the kernel lets go of it when the process dies.
class UpLock {
 public:
  // storage: another `up` holds it; the message names its pid.
  static Result<UpLock> acquire();
  ~UpLock();
  UpLock(UpLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  UpLock& operator=(UpLock&&) = delete;

  // After a fork: the file names the process that goes on.
  Status write_pid() const;

 private:
  explicit UpLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

// The pid of the `up` that runs. not_found: none does.
Result<pid_t> running_up();

// Whether it ended within the time.
bool wait_for_end_of_up(std::chrono::milliseconds timeout);

}  // namespace enginery
