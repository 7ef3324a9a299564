// One `up` per state folder: the lock that it holds and that `down` waits for.
//
// Where: `up` acquires it before it starts anything; `down` reads the pid from it. Threads: as any
// value; the lock itself is between processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>

#include "engine/base/result.h"

namespace enginery {

std::filesystem::path up_lock_file();  // up.pid in the state folder
std::filesystem::path up_log_file();   // where a detached `up` writes

// A lock on up_lock_file(), held as long as this object lives; the kernel releases it when the
// process dies.
class UpLock {
 public:
  // Errors: storage, where another `up` holds it; the message names its pid.
  static Result<UpLock> acquire();
  ~UpLock();
  UpLock(UpLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  UpLock& operator=(UpLock&&) = delete;

  // Names the calling process in the file: after a fork it is the child that goes on.
  Status write_pid() const;

 private:
  explicit UpLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

// The pid of the running `up`. Errors: not_found, where none runs.
Result<pid_t> running_up();

// Waits at most `timeout` until no `up` runs; whether that came true.
bool wait_for_end_of_up(std::chrono::milliseconds timeout);

}  // namespace enginery
