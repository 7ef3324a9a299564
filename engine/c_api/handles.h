// Handles: the objects that a C program holds, each under a number that is never given twice, so
// that a handle that was destroyed, or is none, is an error and not a wild pointer.
//
// Where: below the functions of enginery.h. Thread-safe. An object lives until its handle is gone
// and no call uses it any more.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "enginery/result.h"

namespace enginery {

// The next number for a handle, of any kind: what is an engine's is never a context's.
uintptr_t next_handle();

// The live objects of one kind. `Handle` is the public, incomplete type.
template <typename Handle, typename Object>
class Handles {
 public:
  // May throw std::bad_alloc; then nothing is kept.
  Handle* add(std::shared_ptr<Object> object) {
    const uintptr_t number = next_handle();
    std::lock_guard lock(mutex_);
    objects_.emplace(number, std::move(object));
    return reinterpret_cast<Handle*>(number);
  }

  // Null where the handle is not a live one of this kind.
  std::shared_ptr<Object> find(const Handle* handle) {
    std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  // Forgets the handle; whether it was there. The object ends outside of the lock.
  bool remove(const Handle* handle) {
    std::unique_lock lock(mutex_);
    const auto node = objects_.extract(reinterpret_cast<uintptr_t>(handle));
    lock.unlock();
    return !node.empty();
  }

  // The one table of this kind. It is never destroyed: at the process's end a driver may be gone
  // before the objects that a program did not destroy.
  static Handles& table() {
    static Handles& all = *std::make_unique<Handles>().release();
    return all;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> objects_;
};

}  // namespace enginery
