// Measurer: the instrument that times work on a device, and LaunchBatch: enough launches in a row
// for it to resolve.
//
// Where: the tuner times tactics with it, the runtime whole engines and their layers. Threads: any
// may ask for the state; one at a time measures, and holds the device's lock (device_lock.h).
#pragma once

#include <optional>

#include "engine/device/device.h"

namespace enginery {

// The device's state during a measurement; 0 where it cannot be read. Kept with every timing.
struct DeviceState {
  double clock_mhz = 0, memory_clock_mhz = 0, temperature_c = 0, power_w = 0;
  uint64_t throttle_bits = 0;  // as NVML numbers the reasons; 0 = not throttled
  double foreign_load = 0;     // share of the device that other processes use, 0..1
};

class Measurer {
 public:
  virtual ~Measurer() = default;
  // Device time of one launch of `list` in microseconds, from its first operation to its last.
  // Errors: those of the launch; device_lost.
  virtual Result<double> time_us(Stream& stream, CommandList& list) = 0;
  // The shortest command list that this instrument resolves well, in microseconds; shorter work is
  // repeated within one list.
  virtual double min_resolvable_us() const = 0;
  // Over how many placements of small buffers a time must be averaged; more than 1 where kernels'
  // speed depends on addresses.
  virtual int placements() const { return 1; }
  // Writing so many bytes leaves nothing in the caches of what was there before; 0 where that would
  // take longer than what is measured.
  virtual int64_t sweep_bytes() const { return 0; }
  // Why the device runs slower than it could right now, as DeviceState::throttle_bits; cheap enough
  // to be asked beside a measurement, from another thread. Empty: asking would disturb one, or
  // nobody knows.
  virtual std::optional<uint64_t> throttle_bits() { return std::nullopt; }
  virtual DeviceState state() = 0;
};

// Short work recorded several times in a row, as one command list.
struct LaunchBatch {
  std::unique_ptr<CommandList> list;  // null: nothing to time
  int launches = 1;                   // what the time of one run of the list is divided by
};

// Enqueues launch number `launch` of the batch.
using EnqueueLaunch = std::function<Status(Stream&, int launch)>;

// Records whole turns of `ring` launches: as many as take min_resolvable_us(), at most
// `max_turns`. Runs one turn twice to see how long it takes. The device must have a measurer.
// Errors: those of `enqueue`; device_lost.
Result<LaunchBatch> record_batch(Device& device, Stream& stream, const EnqueueLaunch& enqueue,
                                 int ring, int max_turns);

}  // namespace enginery
