// LtMatmul: one matrix product as cuBLASLt sees it. NHWC seen column-major: D[k, m] =
// epilogue(W'[k, c] * X[c, m] + beta * C[k, m]).
#pragma once

#include <cuda.h>

#include "engine/device/cuda/cublaslt_library.h"
#include "engine/tactics/shapes/conv_shape.h"

namespace enginery {

// The part of a problem's epilogue that cuBLASLt fuses.
struct LtEpilogue {
  int bias_slot = -1, add_slot = -1;  // of LoweredEpilogue::sources
  cublasLtEpilogue_t kind = CUBLASLT_EPILOGUE_DEFAULT;
};
// Errors: unsupported (any other step or order than bias, residual, relu or tanh-gelu).
Result<LtEpilogue> lt_epilogue(const LoweredEpilogue& epilogue);

// Descriptors of one product; freed with it. Threads: read-only after create() and set_bias().
class LtMatmul {
 public:
  // Errors: internal, out_of_memory (the library's).
  static Result<std::unique_ptr<LtMatmul>> create(const CublasLt& lt, const ConvShape& shape,
                                                  Precision precision, const LtEpilogue& epilogue);
  explicit LtMatmul(const CublasLt& lt) : lt_(lt) {}  // empty, for create()
  ~LtMatmul();
  LtMatmul(const LtMatmul&) = delete;
  LtMatmul& operator=(const LtMatmul&) = delete;
  // Where the bias lies: the descriptor holds its address.
  Status set_bias(const void* bias);
  // Likely best first.
  Result<std::vector<cublasLtMatmulHeuristicResult_t>> propose(cublasLtHandle_t handle,
                                                               uint64_t workspace_bytes) const;
  // Whether the algorithm runs this product here. Errors: incompatible, internal.
  Status check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm) const;

  // c is the residual, null where there is none; d is written.
  struct Pointers {
    const void *w, *x, *c;
    void *d, *workspace;
  };
  Status run(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
             const Pointers& pointers, size_t workspace_bytes, CUstream stream) const;

 private:
  const CublasLt& lt_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t w_ = nullptr, x_ = nullptr, d_ = nullptr;
  float beta_ = 0;
};

// "a66_t33_s35_k1_r0_w0_o3_i0_c5": the algorithm by its documented attributes. Its bytes are no
// name: some of them are undefined and differ from process to process.
Result<std::string> algorithm_name(const CublasLt& lt, const cublasLtMatmulAlgo_t& algorithm);

}  // namespace enginery
