// CudaStream and CudaCommandList: a driver stream with pinned staging for host copies, and a
// recorded CUDA graph.
//
// Where: what CudaDevice gives as Stream, Event and CommandList; sources ask cuda_stream() for the
// driver's handle. Threads: a stream belongs to one thread at a time; a list may be launched from
// any stream of its device, one launch at a time. The device outlives them all.
#pragma once

#include <optional>
#include <vector>

#include "engine/device/cuda/cuda_device.h"

namespace enginery {

// One event of the driver, without a time of its own; destroyed with it.
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
  // A stream that does not wait for the default one. Errors: incompatible (the card is not here),
  // those of the driver.
  static Result<std::unique_ptr<Stream>> create(const CudaDevice& device);
  // The program's own stream, which stays the program's. As long as this lives the calling thread
  // may do what a capture of another thread or stream forbids (CU_STREAM_CAPTURE_MODE_RELAXED):
  // libraries may allocate when they first meet a shape. Errors: as create.
  static Result<std::unique_ptr<CudaStream>> borrow(const CudaDevice& device, CUstream handle);
  // For create() and borrow() alone.
  CudaStream(MakeKey, const CudaDevice& device) : device_(device) {}
  ~CudaStream() override;
  // Also brings every staged download to the caller's memory, in the order of the copies.
  Status synchronize() override;
  Result<std::unique_ptr<Event>> mark() override;
  Status wait(const Event& event) override;

  CUstream handle() const { return handle_; }
  Result<bool> is_capturing() const;
  // Staged up to 8 MiB at a time; a larger copy, or one that is being recorded, is enqueued from
  // the caller's memory itself. Synchronises where the pinned buffer is full.
  Status copy(void* to, const void* from, size_t bytes, CopyKind kind);

 private:
  // The pinned bytes for one staged copy; null where the copy is too large to stage or the stream
  // is recording.
  Result<std::byte*> stage(size_t bytes);

  // What synchronize() still has to bring from the pinned buffer to the caller.
  struct Download {
    void* to;
    const std::byte* from;
    size_t bytes;
  };
  const CudaDevice& device_;
  CUstream handle_ = nullptr;
  std::optional<CUstreamCaptureMode> mode_found_;  // of the thread that borrowed the stream
  std::byte* pinned_ = nullptr;
  size_t pinned_used_ = 0;
  std::vector<Download> downloads_;
};

// A CUDA graph made by stream capture.
// Keeps what it was recorded from: a graph holds bare handles of the kernels and addresses that
// `enqueue` may own.
class CudaCommandList final : public CommandList {
 public:
  // Errors: those of `enqueue` first; else the driver's, of the capture or of the graph. The stream
  // is no longer recording afterwards, whatever happened.
  static Result<std::unique_ptr<CommandList>> record(const CudaDevice& device, Stream& stream,
                                                     const Enqueue& enqueue);
  // Takes over the graph; record() makes it.
  CudaCommandList(const CudaDevice& device, CUgraphExec exec, size_t nodes, Enqueue enqueue)
      : device_(device), exec_(exec), nodes_(nodes), enqueue_(std::move(enqueue)) {}
  ~CudaCommandList() override;
  Status launch(Stream& stream) override;
  size_t nodes() const { return nodes_; }  // kernels, copies and fills

 private:
  const CudaDevice& device_;
  CUgraphExec exec_ = nullptr;
  const size_t nodes_;
  const Enqueue enqueue_;
};

}  // namespace enginery
