// Interop: what a program that uses the device itself shares with an engine: its streams and
// memory.
//
// Where: a device that offers it implements it, interop_of() finds it; Execution::enqueue works on
// it. Threads: as Device; a borrowed stream belongs to the thread that borrowed it.
#pragma once

#include "engine/device/device.h"

namespace enginery {

// A stream of the program's. Ending it leaves the stream and the work that is on it alone.
struct BorrowedStream {
  std::unique_ptr<Stream> stream;
  // The program is recording the stream (a CUDA stream capture): nothing runs now, and nothing may
  // wait, allocate memory of the device or launch another recording.
  bool recording = false;
};

class Interop {
 public:
  virtual ~Interop() = default;
  // `handle`: a GPU's is a CUstream of the device's primary context, null its default stream; a CPU
  // has no streams, and null is the calling thread's own. Errors: invalid_argument (a CPU's that is
  // not null), those of the driver.
  virtual Result<BorrowedStream> borrow_stream(void* handle) = 0;
  // Errors: invalid_argument where the device's kernels cannot read and write `bytes` at `data`, or
  // where it is not aligned as they expect.
  virtual Status require_memory(const void* data, size_t bytes) = 0;
};

// Null for a device that does not offer it. Borrows.
inline Interop* interop_of(Device& device) {
  return dynamic_cast<Interop*>(&device);
}

}  // namespace enginery
