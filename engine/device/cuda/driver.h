// The CUDA driver API as a table of functions out of libcuda.so.1, and its statuses as Errors.
//
// Where: CudaDevice opens it; streams, measurer and the sources of engine/tactics/cuda call through
// it. Why a table: the same binary starts where there is no driver. Source: NVIDIA, CUDA Driver
// API.
#pragma once

#include <cuda.h>

#include "engine/base/result.h"
#include "engine/device/cuda/library.h"

// Every driver call that enginery makes: (symbol, parameters). Symbols carry their version, so that
// the table does not depend on which CUDA's headers it is built with.
#define ENGINERY_DRIVER_CALLS(CALL)                                                             \
  CALL(cuInit, (unsigned))                                                                      \
  CALL(cuDriverGetVersion, (int*))                                                              \
  CALL(cuGetErrorName, (CUresult, const char**))                                                \
  CALL(cuGetErrorString, (CUresult, const char**))                                              \
  CALL(cuDeviceGetCount, (int*))                                                                \
  CALL(cuDeviceGet, (CUdevice*, int))                                                           \
  CALL(cuDeviceGetName, (char*, int, CUdevice))                                                 \
  CALL(cuDeviceGetPCIBusId, (char*, int, CUdevice))                                             \
  CALL(cuDeviceGetAttribute, (int*, CUdevice_attribute, CUdevice))                              \
  CALL(cuDeviceTotalMem_v2, (size_t*, CUdevice))                                                \
  CALL(cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                        \
  CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice))                                                \
  CALL(cuCtxSetCurrent, (CUcontext))                                                            \
  CALL(cuMemAlloc_v2, (CUdeviceptr*, size_t))                                                   \
  CALL(cuMemFree_v2, (CUdeviceptr))                                                             \
  CALL(cuMemAllocHost_v2, (void**, size_t))                                                     \
  CALL(cuMemFreeHost, (void*))                                                                  \
  CALL(cuPointerGetAttribute, (void*, CUpointer_attribute, CUdeviceptr))                        \
  CALL(cuMemcpyAsync, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                             \
  CALL(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                         \
  CALL(cuStreamCreate, (CUstream*, unsigned))                                                   \
  CALL(cuStreamDestroy_v2, (CUstream))                                                          \
  CALL(cuStreamSynchronize, (CUstream))                                                         \
  CALL(cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                        \
  CALL(cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus*))                                 \
  CALL(cuStreamBeginCapture_v2, (CUstream, CUstreamCaptureMode))                                \
  CALL(cuStreamEndCapture, (CUstream, CUgraph*))                                                \
  CALL(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode*))                               \
  CALL(cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))                \
  CALL(cuGraphGetNodes, (CUgraph, CUgraphNode*, size_t*))                                       \
  CALL(cuGraphAddEmptyNode, (CUgraphNode*, CUgraph, const CUgraphNode*, size_t))                \
  CALL(cuGraphDestroy, (CUgraph))                                                               \
  CALL(cuGraphExecDestroy, (CUgraphExec))                                                       \
  CALL(cuGraphLaunch, (CUgraphExec, CUstream))                                                  \
  CALL(cuEventCreate, (CUevent*, unsigned))                                                     \
  CALL(cuEventDestroy_v2, (CUevent))                                                            \
  CALL(cuEventRecord, (CUevent, CUstream))                                                      \
  CALL(cuEventSynchronize, (CUevent))                                                           \
  CALL(cuEventElapsedTime, (float*, CUevent, CUevent))                                          \
  CALL(cuModuleLoadDataEx, (CUmodule*, const void*, unsigned, CUjit_option*, void**))           \
  CALL(cuModuleUnload, (CUmodule))                                                              \
  CALL(cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                               \
  CALL(cuModuleGetGlobal_v2, (CUdeviceptr*, size_t*, CUmodule, const char*))                    \
  CALL(cuFuncSetAttribute, (CUfunction, CUfunction_attribute, int))                             \
  CALL(cuFuncGetAttribute, (int*, CUfunction_attribute, CUfunction))                            \
  CALL(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                        unsigned, CUstream, void**, void**))                                    \
  CALL(cuLaunchHostFunc, (CUstream, CUhostFn, void*))                                           \
  CALL(cuGraphNodeGetType, (CUgraphNode, CUgraphNodeType*))

// Null where the driver is older than the call (CUDA 11.8 and 12.3).
#define ENGINERY_NEWER_DRIVER_CALLS(CALL)                                                   \
  CALL(cuLaunchKernelEx, (const CUlaunchConfig*, CUfunction, void**, void**))               \
  CALL(cuStreamGetCaptureInfo_v3, (CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, \
                                   const CUgraphNode**, const CUgraphEdgeData**, size_t*))  \
  CALL(cuStreamUpdateCaptureDependencies_v2,                                                \
       (CUstream, CUgraphNode*, const CUgraphEdgeData*, size_t, unsigned))

namespace enginery {

// The table; one a process is enough, but nothing forbids more. Immutable, thread-safe.
struct Driver {
#define ENGINERY_DECLARE(name, parameters) CUresult(*name) parameters = nullptr;
  ENGINERY_DRIVER_CALLS(ENGINERY_DECLARE)
  ENGINERY_NEWER_DRIVER_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
  int version = 0;  // 13000 for CUDA 13.0

  // Opens libcuda.so.1 and initialises it. Errors: unavailable (no driver, no device, too old).
  static Result<Driver> open();
  // `call` is the call's text: "cuMemAlloc_v2(bytes)". Errors: out_of_memory; unavailable (no
  // device); incompatible and corrupt_data (code that this driver or GPU does not take);
  // unsupported; device_lost for what stays with the context, so that every later call fails as
  // well; internal for every other status.
  Status check(CUresult status, const char* call) const;
};

}  // namespace enginery

// CUDA_OK(driver, cuCtxSetCurrent(context)): calls through the table; returns the status as an
// Error if it is one.
#define CUDA_OK(driver, ...) CHECK_OK((driver).check((driver).__VA_ARGS__, #__VA_ARGS__))
