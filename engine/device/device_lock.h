// DeviceLock: the right to measure on one piece of hardware. Processes that share it (the runners
// of several CPU SKUs of one host, two workers on one GPU) wait for each other; the operating
// system frees the lock of a process that dies.
//
// Where: every step of a build that runs on a device holds it. Threads: a lock may be held by one
// thread and released by another.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace enginery {

struct DeviceLockOptions {
  std::chrono::milliseconds timeout{std::chrono::minutes(30)};
  std::function<bool()> cancelled;  // asked while waiting; may be empty
  // Called once when another process holds it, with who that is ("process 4711 (enginery build
  // x.onnx)", "another process" where the system does not tell); may be empty.
  std::function<void(const std::string& holder)> waiting;
  std::filesystem::path folder = "/tmp";  // the same for every process of the host
  const Clock* clock = nullptr;           // by which the time-out passes; null: the system's
};

// Held while it lives. Movable; any thread may release it.
class DeviceLock {
 public:
  // Errors: timed_out, cancelled, storage (the lock file cannot be made).
  static Result<DeviceLock> acquire(const std::string& physical_id,
                                    const DeviceLockOptions& options = {});

  // Stands for a lock that another process holds for this one.
  static DeviceLock held_elsewhere() { return DeviceLock(-1); }
  // The locked file, to be handed on to a child: the lock lasts until both have let go of it.
  int descriptor() const { return descriptor_; }

  DeviceLock(DeviceLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  DeviceLock& operator=(DeviceLock&& other) noexcept;
  ~DeviceLock();

 private:
  explicit DeviceLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace enginery
