// CudaDevice: one GPU behind the Device interface, over the driver API; what the CUDA tactic
// sources ask of it beyond that.
//
// Where: open_device() makes it for a GPU's SKU; everything in engine/tactics/cuda is given one.
// Threads: as Device. Every entry makes the device's primary context current on the calling thread.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "engine/device/cuda/cublaslt_library.h"
#include "engine/device/cuda/cudnn_library.h"
#include "engine/device/cuda/driver.h"
#include "engine/device/cuda/fingerprint.h"
#include "engine/device/cuda/nvrtc.h"
#include "engine/device/interop.h"
#include "engine/device/measurer.h"

namespace enginery {

class CudaStream;

// A library that is opened when it is first asked for; its failure is kept and repeated.
template <typename T>
class Lazy {
 public:
  template <typename Open>
  Result<const T*> get(Open&& open) {
    std::lock_guard lock(mutex_);
    if (!result_) result_.emplace(open());
    if (!result_->ok()) return result_->error();
    return &result_->value();
  }

 private:
  std::mutex mutex_;
  std::optional<Result<T>> result_;
};

class CudaDevice final : public Device, public Interop {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // Opens GPU `options.index`. Errors: unavailable (no driver, no such GPU), incompatible (another
  // SKU), internal.
  static Result<std::unique_ptr<Device>> open(const SkuRow& row, const DeviceOptions& options);
  // For open() alone: a device that is not connected to a driver.
  CudaDevice(MakeKey, DeviceInfo info) : info_(std::move(info)) {}
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  Result<DeviceMemory> allocate(size_t bytes) override;
  Result<std::unique_ptr<Stream>> create_stream() override;
  Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) override;
  Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) override;
  Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) override;
  Measurer* measurer() override { return measurer_.get(); }
  Result<BorrowedStream> borrow_stream(void* handle) override;
  // Memory has to begin where cuMemAlloc's does: kernels and libraries are chosen for that.
  Status require_memory(const void* data, size_t bytes) override;

  // False for a device that is only compiled for: then there is no driver, and nothing can be
  // prepared or run.
  bool present() const { return driver_ != nullptr; }
  // Requires present().
  const Driver& driver() const { return *driver_; }
  // Whoever calls the driver calls this before, on the same thread. Errors: incompatible (the card
  // is not here), device_lost (an earlier launch faulted: only a new process helps).
  Status make_current() const;
  // New memory with these bytes, or with those of other memory, once they are there. From many
  // threads they take turns on one stream: a stream and its pinned staging for each upload cost
  // more than the copy.
  Result<DeviceMemory> upload(std::string_view bytes);
  Result<DeviceMemory> duplicate(const DeviceMemory& memory);
  // Libraries, opened when first asked for; they live as long as the device, a failure as well.
  // Errors: unavailable, with what was tried.
  Result<const Nvrtc*> nvrtc();
  Result<const Cudnn*> cudnn();
  Result<const CublasLt*> cublaslt();

 private:
  // Takes the driver over and holds the card's primary context until the device goes.
  Status connect(const DeviceOptions& options, std::unique_ptr<Driver> driver);
  // DeviceInfo::software, a part of timing keys: the versions of what timings depend on, "none"
  // where there is none.
  void add_software_facts(const std::string& driver_text);
  Result<DeviceMemory> allocate_filled(const void* from, size_t bytes, CopyKind kind);

  DeviceInfo info_;
  std::unique_ptr<Driver> driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::unique_ptr<Measurer> measurer_;
  std::mutex transfer_mutex_;
  std::unique_ptr<Stream> transfers_;  // made when first used
  Lazy<Nvrtc> nvrtc_;
  Lazy<Cudnn> cudnn_;
  Lazy<CublasLt> cublaslt_;
};

// The handle behind a Stream that this device made.
CUstream cuda_stream(Stream& stream);

// GPUs that the driver shows; empty without a driver.
void append_local_gpus(std::vector<LocalSku>& skus);

}  // namespace enginery
