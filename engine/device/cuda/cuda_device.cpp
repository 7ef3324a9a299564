#include "engine/device/cuda/cuda_device.h"

#include "engine/device/cuda/cuda_measurer.h"
#include "engine/device/cuda/cuda_stream.h"

namespace enginery {
namespace {

std::unique_ptr<Nvml> open_nvml() {
  auto nvml = Nvml::open();
  return nvml.ok() ? std::make_unique<Nvml>(std::move(nvml).value()) : nullptr;
}

Result<int> device_count(const Driver& driver) {
  int count = 0;
  CUDA_OK(driver, cuDeviceGetCount(&count));
  return count;
}

std::string version_or_reason(const Result<std::string>& version) {
  return version.ok() ? version.value() : "none";
}

}  // namespace

Result<std::unique_ptr<Device>> CudaDevice::open(const SkuRow& row, const DeviceOptions& options) {
  if (options.compile_only) {
    auto device = std::make_unique<CudaDevice>(MakeKey{}, device_info(row));
    device->add_software_facts("none");
    return std::unique_ptr<Device>(std::move(device));
  }
  auto opened = Driver::open();
  if (!opened.ok()) return opened.error().within("open device " + row.name);
  auto driver = std::make_unique<Driver>(std::move(opened).value());
  TRY(int count, device_count(*driver));
  if (options.index >= count) {
    return Error{ErrorCode::unavailable, "open device " + row.name + ": GPU " +
                                             std::to_string(options.index) + " of " +
                                             std::to_string(count) + " visible ones"};
  }
  std::unique_ptr<Nvml> nvml = open_nvml();
  TRY(CardStructure card, read_card(*driver, nvml.get(), options.index));
  auto device = std::make_unique<CudaDevice>(MakeKey{}, device_info(card));
  if (device->info_.sku != row.name) {
    return Error{ErrorCode::incompatible, "open device " + row.name + ": GPU " +
                                              std::to_string(options.index) + " (" + card.name +
                                              ") is " + device->info_.sku};
  }
  CHECK_OK(device->connect(options, std::move(driver)));
  device->add_software_facts(card.driver_text);
  TRY(device->measurer_, CudaMeasurer::create(*device, std::move(nvml), card.pci_bus));
  return std::unique_ptr<Device>(std::move(device));
}

Status CudaDevice::connect(const DeviceOptions& options, std::unique_ptr<Driver> driver) {
  CUDA_OK(*driver, cuDeviceGet(&device_, options.index));
  CUDA_OK(*driver, cuDevicePrimaryCtxRetain(&context_, device_));
  driver_ = std::move(driver);
  return make_current();
}

CudaDevice::~CudaDevice() {
  measurer_.reset();
  transfers_.reset();
  if (context_) driver_->cuDevicePrimaryCtxRelease_v2(device_);
}

void CudaDevice::add_software_facts(const std::string& driver_text) {
  auto nvrtc_version = [&]() -> Result<std::string> {
    TRY(const Nvrtc* library, nvrtc());
    return library->version();
  };
  auto cudnn_version = [&]() -> Result<std::string> {
    TRY(const Cudnn* library, cudnn());
    return std::to_string(library->cudnnGetVersion());
  };
  auto cublaslt_version = [&]() -> Result<std::string> {
    TRY(const CublasLt* library, cublaslt());
    return std::to_string(library->cublasLtGetVersion());
  };
  info_.software = {{"driver", driver_text},
                    {"cuda", driver_ ? std::to_string(driver_->version) : "none"},
                    {"nvrtc", version_or_reason(nvrtc_version())},
                    {"kernels", ENGINERY_KERNELS_HASH}};
  if (!present()) return;  // nothing of these can serve a card that is not here
  info_.software.emplace_back("cudnn", version_or_reason(cudnn_version()));
  info_.software.emplace_back("cublaslt", version_or_reason(cublaslt_version()));
}

Status CudaDevice::make_current() const {
  if (!present()) {
    return Error{
        ErrorCode::incompatible,
        "use device " + info_.sku + ": it is not here, engines can only be compiled for it"};
  }
  CUDA_OK(*driver_, cuCtxSetCurrent(context_));
  return {};
}

Result<DeviceMemory> CudaDevice::allocate(size_t bytes) {
  CHECK_OK(make_current());
  CUdeviceptr memory = 0;
  size_t wanted = bytes ? bytes : 1;
  auto status = driver_->check(driver_->cuMemAlloc_v2(&memory, wanted), "cuMemAlloc_v2");
  if (!status.ok())
    return status.error().within("allocate " + std::to_string(bytes) + " bytes on " + info_.sku);
  auto release = [driver = *driver_, context = context_](void* data) {
    driver.cuCtxSetCurrent(context);
    driver.cuMemFree_v2(reinterpret_cast<CUdeviceptr>(data));
  };
  return DeviceMemory(reinterpret_cast<void*>(memory), bytes, release);
}

Result<DeviceMemory> CudaDevice::upload(std::string_view bytes) {
  return allocate_filled(bytes.data(), bytes.size(), CopyKind::to_device);
}

Result<DeviceMemory> CudaDevice::duplicate(const DeviceMemory& memory) {
  return allocate_filled(memory.data(), memory.bytes(), CopyKind::on_device);
}

Result<DeviceMemory> CudaDevice::allocate_filled(const void* from, size_t bytes, CopyKind kind) {
  TRY(DeviceMemory out, allocate(bytes));
  const std::lock_guard lock(transfer_mutex_);
  if (!transfers_) {
    TRY(transfers_, create_stream());
  }
  CHECK_OK(copy(*transfers_, out.data(), from, bytes, kind));
  CHECK_OK(transfers_->synchronize());
  return out;
}

Result<std::unique_ptr<Stream>> CudaDevice::create_stream() {
  return CudaStream::create(*this);
}

Status CudaDevice::copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) {
  return static_cast<CudaStream&>(stream).copy(to, from, bytes, kind);
}

Status CudaDevice::fill(Stream& stream, void* to, uint8_t byte, size_t bytes) {
  if (bytes == 0) return {};
  CHECK_OK(make_current());
  CUDA_OK(*driver_,
          cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), byte, bytes, cuda_stream(stream)));
  return {};
}

Result<std::unique_ptr<CommandList>> CudaDevice::record(Stream& stream, const Enqueue& enqueue) {
  return CudaCommandList::record(*this, stream, enqueue);
}

Result<const Nvrtc*> CudaDevice::nvrtc() {
  return nvrtc_.get([&] { return Nvrtc::open(info_.compute_capability); });
}

Result<const Cudnn*> CudaDevice::cudnn() {
  // cuDNN opens NVRTC by bare name when it compiles a fused plan: have it loaded, wherever it lies.
  (void)nvrtc();
  return cudnn_.get([] { return Cudnn::open(); });
}

Result<const CublasLt*> CudaDevice::cublaslt() {
  return cublaslt_.get([&] { return CublasLt::open(info_.compute_capability); });
}

void append_local_gpus(std::vector<LocalSku>& skus) {
  auto driver = Driver::open();
  if (!driver.ok()) return;
  auto count = device_count(driver.value());
  std::unique_ptr<Nvml> nvml = open_nvml();
  for (int i = 0; count.ok() && i < count.value(); ++i) {
    auto card = read_card(driver.value(), nvml.get(), i);
    if (card.ok()) skus.push_back({resolve_sku(card.value()), DeviceKind::cuda, i});
  }
}

}  // namespace enginery
