#include "engine/device/cuda/driver.h"

namespace enginery {
namespace {

ErrorCode code_of(CUresult status) {
  switch (status) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ErrorCode::out_of_memory;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_STUB_LIBRARY:
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_NOT_INITIALIZED:
      return ErrorCode::unavailable;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return ErrorCode::incompatible;
    case CUDA_ERROR_INVALID_IMAGE:
      return ErrorCode::corrupt_data;
    case CUDA_ERROR_NOT_SUPPORTED:
      return ErrorCode::unsupported;
    // Sticky: every later call in this context fails as well.
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
      return ErrorCode::device_lost;
    default:
      return ErrorCode::internal;
  }
}

}  // namespace

Result<Driver> Driver::open() {
  TRY(auto library, SharedLibrary::open({"libcuda.so.1"}));
  Driver driver;
#define ENGINERY_LOAD(name, parameters) ENGINERY_LOAD_SYMBOL(driver, library, name, #name);
  ENGINERY_DRIVER_CALLS(ENGINERY_LOAD)
#undef ENGINERY_LOAD
#define ENGINERY_LOAD_NEWER(name, parameters)           \
  if (auto symbol = library.symbol(#name); symbol.ok()) \
    driver.name = reinterpret_cast<decltype(driver.name)>(*symbol);
  ENGINERY_NEWER_DRIVER_CALLS(ENGINERY_LOAD_NEWER)
#undef ENGINERY_LOAD_NEWER
  CUDA_OK(driver, cuInit(0));
  CUDA_OK(driver, cuDriverGetVersion(&driver.version));
  return driver;
}

Status Driver::check(CUresult status, const char* call) const {
  if (status == CUDA_SUCCESS) return {};
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(status, &name);
  cuGetErrorString(status, &text);
  return Error{code_of(status), std::string(call) + ": " + (name ? name : std::to_string(status)) +
                                    " (" + (text ? text : "no description") + ")"};
}

}  // namespace enginery
