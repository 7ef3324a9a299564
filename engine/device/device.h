// Device: the seam to the hardware that runs an engine. Above this folder nothing knows whether it
// is a CPU or a GPU.
//
// Flow: open_device(sku) -> Device -> streams, memory, command lists; what measures on it is in
// measurer.h. Threads: a Device belongs to one process and may be used from many threads; a Stream
// belongs to one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "enginery/types.h"

namespace enginery {

class Measurer;  // measurer.h

enum class DeviceKind { cpu, cuda };
std::string_view to_string(DeviceKind kind);  // "cpu", "cuda": as engine files and keys spell it

// Named properties in a fixed order. They are part of timing keys, so that a miss can be explained
// field by field: a changed name, value or order is another key.
using Properties = std::vector<std::pair<std::string, std::string>>;

// What is known of a device before anything runs on it.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  std::string sku;   // sku_table.h
  std::string name;  // what the hardware calls itself: "AMD EPYC 9355", "NVIDIA H200"
  // Identifies the piece of hardware. SKUs that share it share this id, and at most one process
  // measures on it at a time (device_lock.h).
  std::string physical_id;
  // GPU: PCI id, compute capability, SM count, memory, L2. CPU: vendor, family, model, instruction
  // set, threads, caches.
  Properties hardware;
  Properties software;         // driver, library versions, hash of our kernel sources
  int threads = 1;             // CPU: threads that run one inference
  int compute_capability = 0;  // GPU: 90 for 9.0
  int compute_units = 1;       // GPU: streaming multiprocessors; CPU: cores
  int streams = 1;             // the number of streams beyond which more gain nothing
  // Whether kernels read and write the caller's host memory in place, so that nothing is staged.
  bool shares_host_memory() const { return kind == DeviceKind::cpu; }
  int64_t memory_bytes = 0;
  int64_t cache_bytes = 0;  // L2 of a GPU, last level of a CPU
  // Roofline, from data sheets or measured once; 0 where unknown. The flops are operations a second
  // in float32, tf32 and float16.
  double float32_flops = 0, tf32_flops = 0, float16_flops = 0, bytes_per_second = 0;
};

// Device memory, freed with its last owner. A CPU's is host memory, aligned to 64 bytes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(void* data, size_t bytes, std::function<void(void*)> release)
      : data_(data, std::move(release)), bytes_(bytes) {}
  void* data() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  size_t bytes_ = 0;
};

// A point in a stream's work that other streams can wait for. Opaque: implementations derive their
// own.
class Event {
 public:
  virtual ~Event() = default;
};

// A queue of work: what one stream is given runs in order, the work of several streams runs in
// parallel. Opaque: implementations derive their own.
class Stream {
 public:
  virtual ~Stream() = default;
  // Blocks until all work enqueued so far is done. Errors: device_lost; internal for an error of
  // that work.
  virtual Status synchronize() = 0;
  // An event that is reached when all work enqueued so far is done.
  virtual Result<std::unique_ptr<Event>> mark() = 0;
  // Work enqueued from now on starts after `event`, which belongs to another stream of the same
  // device. If that stream is being recorded, this one becomes part of the recording, and the
  // recorded stream must wait for an event of this one before the recording ends.
  virtual Status wait(const Event& event) = 0;
};

// A recorded series of launches: a CUDA graph on a GPU, the calls themselves on a CPU. Each launch
// uses the addresses that were recorded.
class CommandList {
 public:
  virtual ~CommandList() = default;
  // Enqueues the whole series. Errors: those of its launches; device_lost.
  virtual Status launch(Stream& stream) = 0;
};

using Enqueue = std::function<Status(Stream&)>;

enum class CopyKind { to_device, to_host, on_device };

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  // Errors: out_of_memory.
  virtual Result<DeviceMemory> allocate(size_t bytes) = 0;
  virtual Result<std::unique_ptr<Stream>> create_stream() = 0;
  // Enqueues the copy. Host memory must stay valid until the stream is synchronised.
  virtual Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) = 0;
  // Enqueues setting every byte.
  virtual Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) = 0;
  // Records what `enqueue` enqueues, which must not synchronise; nothing runs before a launch.
  virtual Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) = 0;
  // The measuring instrument; null for a device that was opened only to compile for.
  virtual Measurer* measurer() = 0;
};

struct DeviceOptions {
  int threads = 0;  // CPU: 0 = the cores of the affinity mask
  int index = 0;    // GPU: which of the visible ones
  // Opens a device that this machine need not have: engines can be built for it, not run
  // (provisional engines).
  bool compile_only = false;
};

// Opens the device that `sku` names on this machine. Errors: not_found (no such SKU), incompatible
// (this machine has no such device), unavailable (driver missing), with what was tried.
Result<std::unique_ptr<Device>> open_device(const std::string& sku, const DeviceOptions& options);

// A SKU that this machine can run.
struct LocalSku {
  std::string name;
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;  // GPU: device index
};
// Best first: GPUs, then CPU SKUs from the highest instruction set down. The first is what the
// target `this` means.
std::vector<LocalSku> local_skus();

}  // namespace enginery
