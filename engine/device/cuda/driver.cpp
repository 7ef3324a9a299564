#include "engine/device/cuda/driver.h"

namespace enginery {
namespace {

ErrorCode code_of(CUresult status) {
  switch (status) {
    case CUDA_ERROR_OUT_OF_MEMORY: return ErrorCode::out_of_memory;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_NOT_INITIALIZED: return ErrorCode::unavailable;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: return ErrorCode::incompatible;
    case CUDA_ERROR_INVALID_IMAGE: return ErrorCode::corrupt_data;
    case CUDA_ERROR_NOT_SUPPORTED: return ErrorCode::unsupported;
    default: return ErrorCode::internal;
  }
}

}  // namespace

Result<Driver> Driver::open() {
  TRY(auto library, SharedLibrary::open({"libcuda.so.1"}));
  Driver driver;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(driver, library, name, #name);
  ENGINERY_DRIVER_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
  CUDA_OK(driver, cuInit(0));
  CUDA_OK(driver, cuDriverGetVersion(&driver.version));
  return driver;
}

Status Driver::check(CUresult status, const char* call) const {
  if (status == CUDA_SUCCESS) return {};
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(status, &name);
  cuGetErrorString(status, &text);
  return Error{code_of(status), std::string(call) + ": " + (name ? name : std::to_string(status)) + " (" +
                                    (text ? text : "no description") + ")"};
}

}  // namespace enginery
