// DeviceConstants: the constants of one prepared tactic, packed as its kernel or library reads
// them, in one block on the GPU.
//
// Where: every GPU source packs its weights and its epilogue's constants with it when a tactic is
// prepared. Threads: immutable once packed.
#pragma once

#include <functional>

#include "engine/device/cuda/cuda_device.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// Packs one constant from the problem's weights, in the bytes that the GPU reads.
using PackConstant = std::function<Bytes(Weights)>;

// The bytes of plain values.
template <typename T>
Bytes bytes_of_values(const std::vector<T>& values) {
  return Bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

class DeviceConstants {
 public:
  DeviceConstants() = default;  // none
  // Packs one after another and uploads them. Errors: out_of_memory, internal.
  static Result<DeviceConstants> pack(CudaDevice& device,
                                      const std::vector<PackConstant>& constants, Weights weights);
  // The same bytes at another address.
  Result<DeviceConstants> copy(CudaDevice& device) const;

  // Of one constant, by its place among those packed; aligned to 256 bytes.
  const void* address(size_t index) const {
    return static_cast<const char*>(memory_.data()) + offsets_[index];
  }
  int64_t bytes() const { return static_cast<int64_t>(memory_.bytes()); }

 private:
  DeviceMemory memory_;
  std::vector<size_t> offsets_;
};

}  // namespace enginery
