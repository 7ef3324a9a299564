// LibraryHandle: a CUDA library's handle on one device, released with it.
//
// Where: cuDNN's and cuBLASLt's sources and whatever they prepare share handles by shared_ptr.
// Threads: as the library says of its handles; whoever uses one that must not be shared locks
// mutex().
#pragma once

#include <mutex>

#include "engine/device/cuda/cuda_device.h"

namespace enginery {

// `Library` is the table of a library's functions; it and the device outlive the handle.
template <typename Library, typename Handle>
class LibraryHandle {
 public:
  using Release = void (*)(const Library&, Handle);
  LibraryHandle(CudaDevice& device, const Library& library, Handle handle, Release release)
      : device_(device), library_(library), handle_(handle), release_(release) {}
  ~LibraryHandle() {
    if (device_.make_current().ok()) release_(library_, handle_);
  }
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;

  CudaDevice& device() const { return device_; }
  const Library& library() const { return library_; }
  Handle get() const { return handle_; }
  std::mutex& mutex() { return mutex_; }

 private:
  CudaDevice& device_;
  const Library& library_;
  const Handle handle_;
  const Release release_;
  std::mutex mutex_;
};

}  // namespace enginery
