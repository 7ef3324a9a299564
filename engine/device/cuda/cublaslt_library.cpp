#include "engine/device/cuda/cublaslt_library.h"

namespace enginery {

Result<CublasLt> CublasLt::open(int compute_capability) {
  std::vector<std::string> names{"libcublasLt.so.12"};
  if (compute_capability >= 75) names.insert(names.begin(), "libcublasLt.so.13");
  TRY(auto library, SharedLibrary::open(names));
  CublasLt table;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(table, library, name, #name);
  ENGINERY_CUBLASLT_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
  ENGINERY_LOAD_SYMBOL(table, library, cublasLtGetVersion, "cublasLtGetVersion");
  ENGINERY_LOAD_SYMBOL(table, library, cublasLtGetStatusString, "cublasLtGetStatusString");
  return table;
}

Status CublasLt::check(cublasStatus_t status, const char* call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  ErrorCode code = status == CUBLAS_STATUS_NOT_SUPPORTED  ? ErrorCode::unsupported
                   : status == CUBLAS_STATUS_ALLOC_FAILED ? ErrorCode::out_of_memory
                                                          : ErrorCode::internal;
  return Error{code, std::string(call) + ": " + cublasLtGetStatusString(status)};
}

}  // namespace enginery
