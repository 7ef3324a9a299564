#include "engine/device/cuda/cuda_measurer.h"

#include "engine/device/cuda/card_sensors.h"
#include "engine/device/cuda/cuda_stream.h"

namespace enginery {
namespace {

// Keeps the stream busy for a while: what is enqueued behind it starts without a gap for the launch
// itself.
constexpr const char* kWaitPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry wait_ns(.param .u64 nanoseconds)
{
  .reg .u64 %begin, %now, %limit;
  .reg .pred %more;
  ld.param.u64 %limit, [nanoseconds];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %more, %now, %limit;
  @%more bra again;
  ret;
}
)";
// A launch takes the host some microseconds, and a graph of several streams more with its nodes.
constexpr uint64_t kHeadStartNanoseconds = 40000, kHeadStartANode = 100;

}  // namespace

Result<std::unique_ptr<Measurer>> CudaMeasurer::create(CudaDevice& device,
                                                       std::unique_ptr<Nvml> nvml,
                                                       const std::string& pci_bus) {
  CHECK_OK(device.make_current());
  auto measurer = std::make_unique<CudaMeasurer>(MakeKey{}, device);
  const Driver& driver = device.driver();
  CUDA_OK(driver, cuEventCreate(&measurer->begin_, CU_EVENT_DEFAULT));
  CUDA_OK(driver, cuEventCreate(&measurer->end_, CU_EVENT_DEFAULT));
  CUDA_OK(driver, cuModuleLoadDataEx(&measurer->module_, kWaitPtx, 0, nullptr, nullptr));
  CUDA_OK(driver, cuModuleGetFunction(&measurer->wait_, measurer->module_, "wait_ns"));
  measurer->nvml_ = std::move(nvml);
  if (measurer->nvml_ &&
      measurer->nvml_->nvmlDeviceGetHandleByPciBusId_v2(pci_bus.c_str(), &measurer->handle_) != 0) {
    measurer->handle_ = nullptr;
  }
  return std::unique_ptr<Measurer>(std::move(measurer));
}

CudaMeasurer::~CudaMeasurer() {
  if (!device_.make_current().ok()) return;
  if (begin_) device_.driver().cuEventDestroy_v2(begin_);
  if (end_) device_.driver().cuEventDestroy_v2(end_);
  if (module_) device_.driver().cuModuleUnload(module_);
}

Result<double> CudaMeasurer::time_us(Stream& stream, CommandList& list) {
  CHECK_OK(device_.make_current());
  const Driver& driver = device_.driver();
  CUstream handle = cuda_stream(stream);
  const uint64_t nodes = static_cast<const CudaCommandList&>(list).nodes();
  uint64_t nanoseconds = kHeadStartNanoseconds + nodes * kHeadStartANode;
  void* parameters[] = {&nanoseconds};
  CUDA_OK(driver, cuLaunchKernel(wait_, 1, 1, 1, 1, 1, 1, 0, handle, parameters, nullptr));
  CUDA_OK(driver, cuEventRecord(begin_, handle));
  CHECK_OK(list.launch(stream));
  CUDA_OK(driver, cuEventRecord(end_, handle));
  CUDA_OK(driver, cuEventSynchronize(end_));
  float milliseconds = 0;
  CUDA_OK(driver, cuEventElapsedTime(&milliseconds, begin_, end_));
  return 1e3 * milliseconds;
}

DeviceState CudaMeasurer::state() {
  if (!handle_) return {};
  DeviceState state = card_state(*nvml_, handle_);
  state.foreign_load = nvml_->foreign_load(handle_);
  return state;
}

std::optional<uint64_t> CudaMeasurer::throttle_bits() {
  if (!handle_) return std::nullopt;
  unsigned long long bits = 0;
  constexpr unsigned long long kIdle = 1;  // "nothing runs" is no throttling
  if (nvml_->nvmlDeviceGetCurrentClocksThrottleReasons(handle_, &bits) != 0) return std::nullopt;
  return bits & ~kIdle;
}

}  // namespace enginery
