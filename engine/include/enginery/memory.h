// Memory of the caller's, of the host or of a device: what an engine's tensors are read from and
// written to. Plain values.
#pragma once

#include <cstdint>

namespace enginery {

// Where memory of a caller's is. A CPU engine's device is the host: there both are the same.
enum class MemoryKind : uint8_t { host, device };

// A tensor's memory, dense and row-major. An input's is never written.
struct TensorMemory {
  void* data = nullptr;
  MemoryKind kind = MemoryKind::host;
};

}  // namespace enginery
