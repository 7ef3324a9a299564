// CudaStream and CudaCommandList: a driver stream with pinned staging for host copies, and a
// recorded CUDA graph.
#pragma once

#include <vector>

#include "engine/device/cuda/cuda_device.h"

namespace enginery {

class CudaEvent final : public Event {
 public:
  CudaEvent(const CudaDevice& device, CUevent event) : device_(device), event_(event) {}
  ~CudaEvent() override;
  CUevent event() const { return event_; }

 private:
  const CudaDevice& device_;
  const CUevent event_;
};

// Copies to and from pageable host memory go through a pinned buffer, so that they are
// asynchronous; a download lands in the caller's memory when the stream is synchronised.
class CudaStream final : public Stream {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  static Result<std::unique_ptr<Stream>> create(const CudaDevice& device);
  // For create() alone.
  CudaStream(MakeKey, const CudaDevice& device) : device_(device) {}
  ~CudaStream() override;
  Status synchronize() override;
  Result<std::unique_ptr<Event>> mark() override;
  Status wait(const Event& event) override;

  CUstream handle() const { return handle_; }
  Status copy(void* to, const void* from, size_t bytes, CopyKind kind);

 private:
  // The pinned bytes for one staged copy; null where the copy is too large to stage or the stream
  // is recording.
  Result<std::byte*> stage(size_t bytes);

  struct Download {
    void* to;
    const std::byte* from;
    size_t bytes;
  };
  const CudaDevice& device_;
  CUstream handle_ = nullptr;
  std::byte* pinned_ = nullptr;
  size_t pinned_used_ = 0;
  std::vector<Download> downloads_;
};

// A CUDA graph made by stream capture.
// Keeps what it was recorded from: a graph holds bare handles of the kernels and addresses that
// `enqueue` may own.
class CudaCommandList final : public CommandList {
 public:
  static Result<std::unique_ptr<CommandList>> record(const CudaDevice& device, Stream& stream,
                                                     const Enqueue& enqueue);
  // Takes over the graph; record() makes it.
  CudaCommandList(const CudaDevice& device, CUgraphExec exec, Enqueue enqueue)
      : device_(device), exec_(exec), enqueue_(std::move(enqueue)) {}
  ~CudaCommandList() override;
  Status launch(Stream& stream) override;

 private:
  const CudaDevice& device_;
  CUgraphExec exec_ = nullptr;
  const Enqueue enqueue_;
};

}  // namespace enginery
