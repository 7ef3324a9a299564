// cuDNN 9's backend API as a table of functions, and its statuses as Errors.
//
// Where: opened once a device (CudaDevice::cudnn), used by the source `cudnn` alone. Versions
// before 9 number their statuses otherwise and are not opened. Source: NVIDIA cuDNN, "Backend API".
#pragma once

#include <cudnn_graph.h>

#include "engine/base/result.h"
#include "engine/device/cuda/library.h"

#define ENGINERY_CUDNN_CALLS(CALL)                                                              \
  CALL(cudnnCreate, (cudnnHandle_t*))                                                           \
  CALL(cudnnDestroy, (cudnnHandle_t))                                                           \
  CALL(cudnnSetStream, (cudnnHandle_t, cudaStream_t))                                           \
  CALL(cudnnBackendCreateDescriptor, (cudnnBackendDescriptorType_t, cudnnBackendDescriptor_t*)) \
  CALL(cudnnBackendDestroyDescriptor, (cudnnBackendDescriptor_t))                               \
  CALL(cudnnBackendFinalize, (cudnnBackendDescriptor_t))                                        \
  CALL(cudnnBackendSetAttribute, (cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,        \
                                  cudnnBackendAttributeType_t, int64_t, const void*))           \
  CALL(cudnnBackendGetAttribute, (const cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,  \
                                  cudnnBackendAttributeType_t, int64_t, int64_t*, void*))       \
  CALL(cudnnBackendExecute, (cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t))

namespace enginery {

// The table. Immutable, thread-safe; a handle belongs to one thread at a time.
struct Cudnn {
#define ENGINERY_DECLARE(name, parameters) cudnnStatus_t(*name) parameters = nullptr;
  ENGINERY_CUDNN_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
  size_t (*cudnnGetVersion)() = nullptr;
  const char* (*cudnnGetErrorString)(cudnnStatus_t) = nullptr;
  void (*cudnnGetLastErrorString)(char*, size_t) = nullptr;

  // libcudnn.so.9. Errors: unavailable (it is not here, or lacks one of the calls).
  static Result<Cudnn> open();
  // `call` begins the message, the library's last error ends it. Errors: unsupported (statuses of
  // 3000 to 3999), out_of_memory, internal for every other status.
  Status check(cudnnStatus_t status, const char* call) const;
};

}  // namespace enginery

#define CUDNN_OK(table, ...) CHECK_OK((table).check((table).__VA_ARGS__, #__VA_ARGS__))
