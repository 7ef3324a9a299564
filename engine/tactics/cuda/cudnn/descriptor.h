// RAII over cuDNN's backend descriptors: made, set, finalised, read, destroyed; every status
// becomes an Error.
#pragma once

#include <string>
#include <vector>

#include "engine/device/cuda/cudnn_library.h"

namespace enginery {

// One backend descriptor. Movable. Thread rule: one thread at a time.
class CudnnDescriptor {
 public:
  CudnnDescriptor() = default;
  static Result<CudnnDescriptor> create(const Cudnn& cudnn, cudnnBackendDescriptorType_t type);
  CudnnDescriptor(CudnnDescriptor&& other) noexcept { swap(other); }
  CudnnDescriptor& operator=(CudnnDescriptor&& other) noexcept { return swap(other), *this; }
  ~CudnnDescriptor();

  cudnnBackendDescriptor_t get() const { return descriptor_; }
  Status set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
             const void* values);
  // One value of a plain type.
  template <typename T>
  Status set_one(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                 const T& value) {
    return set(name, type, 1, &value);
  }
  Status set_int64s(cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    return set(name, CUDNN_TYPE_INT64, static_cast<int64_t>(values.size()), values.data());
  }
  Status set_descriptor(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
    return set_one(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.descriptor_);
  }
  Status finalize();
  Result<int64_t> get_int64(cudnnBackendAttributeName_t name) const;
  // How many values the attribute has, and into `values`, at most `room` of them.
  Result<int64_t> read(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       int64_t room, void* values) const;
  // Fills descriptors that the library writes into (heuristic results, an engine of a
  // configuration).
  Result<std::vector<CudnnDescriptor>> read_descriptors(cudnnBackendAttributeName_t name,
                                                        cudnnBackendDescriptorType_t type,
                                                        int64_t most) const;

 private:
  void swap(CudnnDescriptor& other) {
    std::swap(cudnn_, other.cudnn_), std::swap(descriptor_, other.descriptor_);
  }
  const Cudnn* cudnn_ = nullptr;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

}  // namespace enginery
