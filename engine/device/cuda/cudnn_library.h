// cuDNN 9's backend API as a table of functions, and its statuses as Errors.
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

  // Errors: unavailable.
  static Result<Cudnn> open();
  Status check(cudnnStatus_t status, const char* call) const;
};

}  // namespace enginery

#define CUDNN_OK(table, ...) CHECK_OK((table).check((table).__VA_ARGS__, #__VA_ARGS__))
