#include "engine/device/cuda/cudnn_library.h"

namespace enginery {

Result<Cudnn> Cudnn::open() {
  TRY(auto library, SharedLibrary::open({"libcudnn.so.9"}));
  Cudnn table;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(table, library, name, #name);
  ENGINERY_CUDNN_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
  ENGINERY_LOAD_SYMBOL(table, library, cudnnGetVersion, "cudnnGetVersion");
  ENGINERY_LOAD_SYMBOL(table, library, cudnnGetErrorString, "cudnnGetErrorString");
  ENGINERY_LOAD_SYMBOL(table, library, cudnnGetLastErrorString, "cudnnGetLastErrorString");
  return table;
}

Status Cudnn::check(cudnnStatus_t status, const char* call) const {
  if (status == CUDNN_STATUS_SUCCESS) return {};
  char detail[512] = "";
  cudnnGetLastErrorString(detail, sizeof detail);
  int family = static_cast<int>(status) / 1000;  // 3xxx: CUDNN_STATUS_NOT_SUPPORTED and its kin
  ErrorCode code = family == 3 ? ErrorCode::unsupported : ErrorCode::internal;
  if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
    code = ErrorCode::out_of_memory;
  }
  std::string text = std::string(call) + ": " + cudnnGetErrorString(status);
  return Error{code, detail[0] ? text + " (" + detail + ")" : text};
}

}  // namespace enginery
