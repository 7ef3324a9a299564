// Device: the seam to the hardware that runs an engine. Above this folder nothing knows whether it
// is a CPU or a GPU.
//
// A Device belongs to one process and may be used from many threads; a Stream belongs to one thread
// at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "enginery/types.h"

namespace enginery {

enum class DeviceKind { cpu, cuda };
std::string_view to_string(DeviceKind kind);

// An ordered list of facts; part of timing keys, so that a miss can be explained field by field.
using Properties = std::vector<std::pair<std::string, std::string>>;

// What is known of a device before anything runs on it.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  std::string sku;   // sku_table.h
  std::string name;  // as the hardware says: "AMD EPYC 9355", "NVIDIA H200"
  std::string
      physical_id;  // one for all SKUs that share hardware: at most one measurement at a time on it
  Properties hardware;  // PCI id, compute capability, SM count, memory, L2 | vendor, family, model,
                        // cap, threads, caches
  Properties software;  // driver, library versions, hash of our kernel sources
  int threads = 1;      // CPU: threads that run one inference
  int compute_capability = 0;  // GPU: 90 for 9.0
  int compute_units = 1;       // SMs or cores
  int streams = 1;             // so many are worth running side by side
  // Whether kernels read and write the caller's host memory in place, so that nothing has to be
  // staged.
  bool shares_host_memory() const { return kind == DeviceKind::cpu; }
  int64_t memory_bytes = 0, cache_bytes = 0;  // cache: L2 of a GPU, last level of a CPU
  // Roofline, from data sheets or measured once; 0 where unknown. Operations a second for float32,
  // tf32, float16.
  double float32_flops = 0, tf32_flops = 0, float16_flops = 0, bytes_per_second = 0;
};

// Device memory, freed with the last owner. For a CPU it is host memory (64-byte aligned).
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

// A point in a stream's work, for other streams to wait for. Opaque.
class Event {
 public:
  virtual ~Event() = default;
};

// Work enqueued on one stream runs in order, that of several side by side. Opaque; implementations
// give it their own handle.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual Status synchronize() = 0;
  // The point that the stream's work has come to when all that it was given so far is done.
  virtual Result<std::unique_ptr<Event>> mark() = 0;
  // What is enqueued from now on waits for a mark of another stream of the same device. Waiting for
  // one of a stream that is being recorded makes this one part of the recording; before that ends,
  // the first must have waited for this one in turn.
  virtual Status wait(const Event& mark) = 0;
};

// A recorded series of launches: a CUDA graph on a GPU, the calls themselves on a CPU. Replays on
// the same addresses.
class CommandList {
 public:
  virtual ~CommandList() = default;
  virtual Status launch(Stream& stream) = 0;
};

using Enqueue = std::function<Status(Stream&)>;

// The device's state beside a sample; zero where it cannot be read.
struct DeviceState {
  double clock_mhz = 0, memory_clock_mhz = 0, temperature_c = 0, power_w = 0;
  uint64_t throttle_bits = 0;
  double foreign_load = 0;  // share of the device that other processes use, 0..1
};

enum class CopyKind { to_device, to_host, on_device };

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Result<DeviceMemory> allocate(size_t bytes) = 0;  // out_of_memory
  virtual Result<std::unique_ptr<Stream>> create_stream() = 0;
  // Enqueues the copy; host memory must stay valid until the stream is synchronised.
  virtual Status copy(Stream& stream, void* to, const void* from, size_t bytes, CopyKind kind) = 0;
  // Enqueues setting every byte.
  virtual Status fill(Stream& stream, void* to, uint8_t byte, size_t bytes) = 0;
  // Runs `enqueue` once to record it. What it enqueues must not synchronise.
  virtual Result<std::unique_ptr<CommandList>> record(Stream& stream, const Enqueue& enqueue) = 0;
  // The measuring instrument; null where the device has none (a device opened only to compile for).
  virtual class Measurer* measurer() = 0;
};

// Times sequences on the device. One thread at a time; callers hold the device's measuring lock
// (device_lock.h).
class Measurer {
 public:
  virtual ~Measurer() = default;
  // Device time of one launch of `sequence`, in microseconds, from its first operation to its last.
  virtual Result<double> time_us(Stream& stream, CommandList& sequence) = 0;
  // The shortest sequence that this instrument resolves well; shorter work is repeated within one
  // sequence.
  virtual double least_unit_us() const = 0;
  // So many places of small buffers a time is averaged over: more than one where it depends on the
  // addresses.
  virtual int placements() const { return 1; }
  virtual DeviceState state() = 0;
  // Puts every cache that matters into the state "holds nothing of ours".
  virtual Status flush_caches(Stream& stream) = 0;
};

struct DeviceOptions {
  int threads = 0;            // CPU: 0 = the cores of the affinity mask
  int index = 0;              // GPU: which of the visible ones
  bool compile_only = false;  // a device that is not here: engines can be built for it, not run
                              // (provisional engines)
};

// Opens the device that `sku` names on this machine. Errors: not_found (no such SKU), incompatible
// (this machine has no such device), unavailable (driver missing), with what was tried.
Result<std::unique_ptr<Device>> open_device(const std::string& sku, const DeviceOptions& options);

}  // namespace enginery
