#include "engine/device/cuda/cuda_device.h"
#include "engine/device/cuda/cuda_stream.h"

namespace enginery {
namespace {

constexpr uintptr_t kMemoryAlignment = 256;

Error not_usable(const std::string& reason) {
  return {ErrorCode::invalid_argument, "its memory " + reason};
}

}  // namespace

Result<BorrowedStream> CudaDevice::borrow_stream(void* handle) {
  TRY(auto stream, CudaStream::borrow(*this, static_cast<CUstream>(handle)));
  TRY(const bool recording, stream->is_capturing());
  return BorrowedStream{std::move(stream), recording};
}

Status CudaDevice::require_memory(const void* data, size_t bytes) {
  if (bytes == 0) return {};
  CHECK_OK(make_current());
  if (reinterpret_cast<uintptr_t>(data) % kMemoryAlignment != 0)
    return not_usable("does not begin at a multiple of " + std::to_string(kMemoryAlignment) +
                      " bytes");
  const auto ask = [&](CUpointer_attribute what, size_t at, auto& answer) {
    const auto address = reinterpret_cast<CUdeviceptr>(data) + at;
    return driver().cuPointerGetAttribute(&answer, what, address) == CUDA_SUCCESS;
  };
  for (const size_t at : {size_t{0}, bytes - 1}) {
    unsigned kind = 0;
    int card = -1;
    if (!ask(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at, kind) || kind != CU_MEMORYTYPE_DEVICE)
      return not_usable("is not all on a GPU");
    if (!ask(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at, card) || card != device_)
      return not_usable("is on GPU " + std::to_string(card) + ", the engine on GPU " +
                        std::to_string(device_));
  }
  return {};
}

}  // namespace enginery
