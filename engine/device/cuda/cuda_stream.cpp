#include "engine/device/cuda/cuda_stream.h"

#include <cstring>

namespace enginery {
namespace {

constexpr size_t kPinnedBytes = 8 << 20;

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

CUstream cuda_stream(Stream& stream) {
  return static_cast<CudaStream&>(stream).handle();
}

Result<std::unique_ptr<Stream>> CudaStream::create(const CudaDevice& device) {
  CHECK_OK(device.make_current());
  auto stream = std::make_unique<CudaStream>(MakeKey{}, device);
  CUDA_OK(device.driver(), cuStreamCreate(&stream->handle_, CU_STREAM_NON_BLOCKING));
  return std::unique_ptr<Stream>(std::move(stream));
}

Result<std::unique_ptr<CudaStream>> CudaStream::borrow(const CudaDevice& device, CUstream handle) {
  CHECK_OK(device.make_current());
  auto stream = std::make_unique<CudaStream>(MakeKey{}, device);
  stream->handle_ = handle;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CUDA_OK(device.driver(), cuThreadExchangeStreamCaptureMode(&mode));
  stream->mode_found_ = mode;
  return stream;
}

CudaStream::~CudaStream() {
  if (!device_.make_current().ok()) return;
  if (mode_found_) {
    device_.driver().cuThreadExchangeStreamCaptureMode(&*mode_found_);
  } else if (handle_) {
    device_.driver().cuStreamSynchronize(handle_);
    device_.driver().cuStreamDestroy_v2(handle_);
  }
  if (pinned_) device_.driver().cuMemFreeHost(pinned_);
}

Status CudaStream::synchronize() {
  CHECK_OK(device_.make_current());
  CUDA_OK(device_.driver(), cuStreamSynchronize(handle_));
  for (const Download& download : downloads_)
    std::memcpy(download.to, download.from, download.bytes);
  downloads_.clear();
  pinned_used_ = 0;
  return {};
}

CudaEvent::~CudaEvent() {
  if (device_.make_current().ok()) device_.driver().cuEventDestroy_v2(event_);
}

Result<std::unique_ptr<Event>> CudaStream::mark() {
  CHECK_OK(device_.make_current());
  CUevent event = nullptr;
  CUDA_OK(device_.driver(), cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  auto out = std::make_unique<CudaEvent>(device_, event);
  CUDA_OK(device_.driver(), cuEventRecord(event, handle_));
  return std::unique_ptr<Event>(std::move(out));
}

Status CudaStream::wait(const Event& event) {
  CHECK_OK(device_.make_current());
  CUDA_OK(device_.driver(),
          cuStreamWaitEvent(handle_, static_cast<const CudaEvent&>(event).event(), 0));
  return {};
}

Result<bool> CudaStream::is_capturing() const {
  CUstreamCaptureStatus capturing = CU_STREAM_CAPTURE_STATUS_NONE;
  CUDA_OK(device_.driver(), cuStreamIsCapturing(handle_, &capturing));
  return capturing != CU_STREAM_CAPTURE_STATUS_NONE;
}

Result<std::byte*> CudaStream::stage(size_t bytes) {
  if (bytes > kPinnedBytes) return nullptr;
  TRY(const bool capturing, is_capturing());
  if (capturing) return nullptr;
  if (!pinned_) {
    void* memory = nullptr;
    CUDA_OK(device_.driver(), cuMemAllocHost_v2(&memory, kPinnedBytes));
    pinned_ = static_cast<std::byte*>(memory);
  }
  if (pinned_used_ + bytes > kPinnedBytes) CHECK_OK(synchronize());
  std::byte* place = pinned_ + pinned_used_;
  pinned_used_ += (bytes + 63) / 64 * 64;
  return place;
}

Status CudaStream::copy(void* to, const void* from, size_t bytes, CopyKind kind) {
  if (bytes == 0) return {};
  CHECK_OK(device_.make_current());
  const Driver& driver = device_.driver();
  std::byte* staged = nullptr;
  if (kind != CopyKind::on_device) {
    TRY(staged, stage(bytes));
  }
  if (!staged) {
    CUDA_OK(driver, cuMemcpyAsync(address(to), address(from), bytes, handle_));
  } else if (kind == CopyKind::to_device) {
    std::memcpy(staged, from, bytes);
    CUDA_OK(driver, cuMemcpyAsync(address(to), address(staged), bytes, handle_));
  } else {
    CUDA_OK(driver, cuMemcpyAsync(address(staged), address(from), bytes, handle_));
    downloads_.push_back({to, staged, bytes});
  }
  return {};
}

Result<std::unique_ptr<CommandList>> CudaCommandList::record(const CudaDevice& device,
                                                             Stream& stream,
                                                             const Enqueue& enqueue) {
  CHECK_OK(device.make_current());
  const Driver& driver = device.driver();
  CUstream handle = cuda_stream(stream);
  // Relaxed: libraries may allocate when they first meet a shape, on this thread or another.
  CUDA_OK(driver, cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_RELAXED));
  Status enqueued = enqueue(stream);
  CUgraph graph = nullptr;
  Status ended =
      driver.check(driver.cuStreamEndCapture(handle, &graph), "cuStreamEndCapture(handle, &graph)");
  CUgraphExec exec = nullptr;
  Status instantiated;
  if (enqueued.ok() && ended.ok()) {
    instantiated = driver.check(driver.cuGraphInstantiateWithFlags(&exec, graph, 0),
                                "cuGraphInstantiateWithFlags(&exec, graph, 0)");
  }
  size_t nodes = 0;
  if (graph && driver.cuGraphGetNodes(graph, nullptr, &nodes) != CUDA_SUCCESS) nodes = 0;
  if (graph) driver.cuGraphDestroy(graph);
  CHECK_OK(enqueued);
  CHECK_OK(ended);
  CHECK_OK(instantiated);
  return std::unique_ptr<CommandList>(
      std::make_unique<CudaCommandList>(device, exec, nodes, enqueue));
}

CudaCommandList::~CudaCommandList() {
  if (exec_ && device_.make_current().ok()) device_.driver().cuGraphExecDestroy(exec_);
}

Status CudaCommandList::launch(Stream& stream) {
  CHECK_OK(device_.make_current());
  CUDA_OK(device_.driver(), cuGraphLaunch(exec_, cuda_stream(stream)));
  return {};
}

}  // namespace enginery
