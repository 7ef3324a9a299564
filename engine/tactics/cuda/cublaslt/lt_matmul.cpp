#include "engine/tactics/cuda/cublaslt/lt_matmul.h"

namespace enginery {

namespace {

// What cuBLASLt calls an activation, with or without a bias before it. Errors: unsupported.
Result<cublasLtEpilogue_t> activation_epilogue(ActivationKind kind, bool bias) {
  if (kind == ActivationKind::relu)
    return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
  if (kind == ActivationKind::gelu_tanh)
    return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  return refusal("an activation that cuBLASLt does not fuse");
}

cudaDataType data_type(Precision precision) {
  if (precision == Precision::bf16) return CUDA_R_16BF;
  return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

}  // namespace

Result<LtEpilogue> lt_epilogue(const LoweredEpilogue& epilogue) {
  enum class Stage { start, bias, residual, activation };  // the order that cuBLASLt computes in
  LtEpilogue out;
  Stage stage = Stage::start;
  for (const FusedStep& step : epilogue.code.steps) {
    const bool add = step.kind == FusedStepKind::add;
    const bool constant =
        step.slot >= 0 && epilogue.sources[static_cast<size_t>(step.slot)].constant;
    if (add && step.access == OperandAccess::channel && stage < Stage::bias) {
      out.bias_slot = step.slot;
      stage = Stage::bias;
    } else if (add && step.access == OperandAccess::same && stage < Stage::residual && !constant) {
      out.add_slot = step.slot;
      stage = Stage::residual;
    } else if (step.kind == FusedStepKind::activation && stage < Stage::activation) {
      TRY(out.kind, activation_epilogue(step.activation.kind, out.bias_slot >= 0));
      stage = Stage::activation;
    } else {
      return refusal("an epilogue that cuBLASLt does not fuse");
    }
  }
  if (out.bias_slot >= 0 && stage < Stage::activation) out.kind = CUBLASLT_EPILOGUE_BIAS;
  return out;
}

Result<std::unique_ptr<LtMatmul>> LtMatmul::create(const CublasLt& lt, const ConvShape& shape,
                                                   Precision precision,
                                                   const LtEpilogue& epilogue) {
  auto out = std::make_unique<LtMatmul>(lt);
  const cudaDataType type = data_type(precision);
  cublasComputeType_t compute =
      precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  auto narrow = [](int64_t v) { return static_cast<uint64_t>(v); };
  uint64_t k = narrow(shape.k_pitch()), c = narrow(shape.c_pitch()), m = narrow(shape.m());
  CUBLASLT_OK(lt, cublasLtMatmulDescCreate(&out->desc_, compute, CUDA_R_32F));
  cublasOperation_t transposed = CUBLAS_OP_T;
  CUBLASLT_OK(lt, cublasLtMatmulDescSetAttribute(out->desc_, CUBLASLT_MATMUL_DESC_TRANSA,
                                                 &transposed, sizeof transposed));
  CUBLASLT_OK(lt, cublasLtMatmulDescSetAttribute(out->desc_, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                 &epilogue.kind, sizeof epilogue.kind));
  CUBLASLT_OK(lt, cublasLtMatrixLayoutCreate(&out->w_, type, c, k, shape.c_pitch()));
  CUBLASLT_OK(lt, cublasLtMatrixLayoutCreate(&out->x_, type, c, m, shape.c_pitch()));
  CUBLASLT_OK(lt, cublasLtMatrixLayoutCreate(&out->d_, type, k, m, shape.k_pitch()));
  out->beta_ = epilogue.add_slot >= 0 ? 1.0f : 0.0f;
  return out;
}

LtMatmul::~LtMatmul() {
  if (desc_) lt_.cublasLtMatmulDescDestroy(desc_);
  for (cublasLtMatrixLayout_t layout : {w_, x_, d_}) {
    if (layout) lt_.cublasLtMatrixLayoutDestroy(layout);
  }
}

Status LtMatmul::set_bias(const void* bias) {
  CUBLASLT_OK(lt_, cublasLtMatmulDescSetAttribute(desc_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                                  sizeof bias));
  return {};
}

Result<std::vector<cublasLtMatmulHeuristicResult_t>> LtMatmul::propose(
    cublasLtHandle_t handle, uint64_t workspace_bytes) const {
  constexpr int kMaxResults = 8;
  struct Preference {
    const CublasLt& lt;
    cublasLtMatmulPreference_t value = nullptr;
    ~Preference() {
      if (value) lt.cublasLtMatmulPreferenceDestroy(value);
    }
  } preference{lt_};
  CUBLASLT_OK(lt_, cublasLtMatmulPreferenceCreate(&preference.value));
  CUBLASLT_OK(lt_, cublasLtMatmulPreferenceSetAttribute(preference.value,
                                                        CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                        &workspace_bytes, sizeof workspace_bytes));
  std::vector<cublasLtMatmulHeuristicResult_t> results(kMaxResults);
  int count = 0;
  CUBLASLT_OK(lt_, cublasLtMatmulAlgoGetHeuristic(handle, desc_, w_, x_, d_, d_, preference.value,
                                                  kMaxResults, results.data(), &count));
  results.resize(static_cast<size_t>(count));
  std::erase_if(results, [](const auto& r) { return r.state != CUBLAS_STATUS_SUCCESS; });
  return results;
}

Status LtMatmul::check(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm) const {
  cublasLtMatmulHeuristicResult_t result{};
  CUBLASLT_OK(lt_, cublasLtMatmulAlgoCheck(handle, desc_, w_, x_, d_, d_, &algorithm, &result));
  return {};
}

Status LtMatmul::run(cublasLtHandle_t handle, const cublasLtMatmulAlgo_t& algorithm,
                     const Pointers& p, size_t workspace_bytes, CUstream stream) const {
  float alpha = 1;
  const void* c = p.c ? p.c : p.d;
  CUBLASLT_OK(lt_, cublasLtMatmul(handle, desc_, &alpha, p.w, w_, p.x, x_, &beta_, c, d_, p.d, d_,
                                  &algorithm, p.workspace, workspace_bytes,
                                  reinterpret_cast<cudaStream_t>(stream)));
  return {};
}

Result<std::string> algorithm_name(const CublasLt& lt, const cublasLtMatmulAlgo_t& algorithm) {
  struct Field {
    cublasLtMatmulAlgoConfigAttributes_t attribute;
    const char* letter;
    size_t bytes;
  };
  constexpr Field kFields[] = {{CUBLASLT_ALGO_CONFIG_ID, "a", 4},
                               {CUBLASLT_ALGO_CONFIG_TILE_ID, "t", 4},
                               {CUBLASLT_ALGO_CONFIG_STAGES_ID, "s", 4},
                               {CUBLASLT_ALGO_CONFIG_SPLITK_NUM, "k", 4},
                               {CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, "r", 4},
                               {CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, "w", 4},
                               {CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, "o", 4},
                               {CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, "i", 2},
                               {CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, "c", 2}};
  std::string name;
  for (const Field& field : kFields) {
    uint32_t value = 0;
    size_t written = 0;
    CUBLASLT_OK(lt, cublasLtMatmulAlgoConfigGetAttribute(&algorithm, field.attribute, &value,
                                                         field.bytes, &written));
    name += (name.empty() ? "" : "_") + std::string(field.letter) + std::to_string(value);
  }
  return name;
}

}  // namespace enginery
