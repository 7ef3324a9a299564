// cuBLASLt as a table of functions, and its statuses as Errors.
//
// Where: opened once a device (CudaDevice::cublaslt), used by the source `cublaslt` alone. Why a
// table: the binary starts on machines without the library, and headers of either version build it.
// Source: NVIDIA, cuBLAS Library, "Using the cuBLASLt API".
#pragma once

#include <cublasLt.h>

#include "engine/base/result.h"
#include "engine/device/cuda/library.h"

#define ENGINERY_CUBLASLT_CALLS(CALL)                                                              \
  CALL(cublasLtCreate, (cublasLtHandle_t*))                                                        \
  CALL(cublasLtDestroy, (cublasLtHandle_t))                                                        \
  CALL(cublasLtMatmulDescCreate, (cublasLtMatmulDesc_t*, cublasComputeType_t, cudaDataType_t))     \
  CALL(cublasLtMatmulDescDestroy, (cublasLtMatmulDesc_t))                                          \
  CALL(cublasLtMatmulDescSetAttribute,                                                             \
       (cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void*, size_t))                \
  CALL(cublasLtMatrixLayoutCreate,                                                                 \
       (cublasLtMatrixLayout_t*, cudaDataType, uint64_t, uint64_t, int64_t))                       \
  CALL(cublasLtMatrixLayoutDestroy, (cublasLtMatrixLayout_t))                                      \
  CALL(cublasLtMatmulPreferenceCreate, (cublasLtMatmulPreference_t*))                              \
  CALL(cublasLtMatmulPreferenceDestroy, (cublasLtMatmulPreference_t))                              \
  CALL(cublasLtMatmulPreferenceSetAttribute,                                                       \
       (cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t, const void*, size_t))    \
  CALL(cublasLtMatmulAlgoGetHeuristic,                                                             \
       (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,    \
        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,           \
        cublasLtMatmulHeuristicResult_t*, int*))                                                   \
  CALL(                                                                                            \
      cublasLtMatmulAlgoConfigGetAttribute,                                                        \
      (const cublasLtMatmulAlgo_t*, cublasLtMatmulAlgoConfigAttributes_t, void*, size_t, size_t*)) \
  CALL(cublasLtMatmulAlgoCheck,                                                                    \
       (cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,    \
        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*,               \
        cublasLtMatmulHeuristicResult_t*))                                                         \
  CALL(cublasLtMatmul,                                                                             \
       (cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,  \
        const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t,     \
        void*, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t))

namespace enginery {

// The table. Immutable, thread-safe.
struct CublasLt {
#define ENGINERY_DECLARE(name, parameters) cublasStatus_t(*name) parameters = nullptr;
  ENGINERY_CUBLASLT_CALLS(ENGINERY_DECLARE)
#undef ENGINERY_DECLARE
  size_t (*cublasLtGetVersion)() = nullptr;
  const char* (*cublasLtGetStatusString)(cublasStatus_t) = nullptr;

  // libcublasLt.so.13, then .12; the older alone where the card is older than 7.5. Errors:
  // unavailable.
  static Result<CublasLt> open(int compute_capability);
  // `call` begins the message. Errors: unsupported (the library has no such algorithm),
  // out_of_memory, internal for every other status.
  Status check(cublasStatus_t status, const char* call) const;
};

}  // namespace enginery

#define CUBLASLT_OK(table, ...) CHECK_OK((table).check((table).__VA_ARGS__, #__VA_ARGS__))
