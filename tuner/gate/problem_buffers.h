// ProblemBuffers: device memory for one problem: its inputs in every format that tactics read,
// outputs and workspaces between red zones, in several placements.
//
// Where: a probe checks tactics in it, a measurement fixture times them there. All tactics share
// the memory and run one at a time. Belongs to one thread.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "engine/device/device.h"
#include "tuner/gate/probe_data.h"

namespace enginery {

// Where one launch reads and writes; `Arguments` borrow from it.
struct LaunchPlace {
  std::vector<const void*> inputs;  // an in-place operand is the output's memory, as in an engine
  std::vector<void*> outputs;
  void* workspace = nullptr;
};

class ProblemBuffers {
 public:
  // Memory is allocated when a tactic needs it. Everything given outlives the buffers. Errors:
  // device_lost.
  static Result<std::unique_ptr<ProblemBuffers>> make(const Problem& problem, const ProbeData& data,
                                                      Device& device, int placements);
  // For make() alone.
  ProblemBuffers(const Problem& problem, const ProbeData& data, Device& device, int placements);

  int placements() const { return placements_; }
  Stream& stream() { return *stream_; }
  Device& device() const { return device_; }

  // Where a tactic runs. Errors: out_of_memory, device_lost.
  Result<LaunchPlace> place(const Tactic& tactic, const PreparedTactic& prepared, int placement);

  // Fills outputs and workspace with what no result is, launches once and waits. `poison` runs
  // parallel to the outputs. Errors: those of the launch.
  Status launch(const Tactic& tactic, const PreparedTactic& prepared, int placement,
                const std::vector<uint8_t>& poison);
  // Which of them the last launch wrote around, "output 1" or "workspace"; empty: none.
  Result<std::string> written_around(const Tactic& tactic, const PreparedTactic& prepared,
                                     int placement);
  // The first input that is not what it was, which then is again; -1: none changed.
  Result<int> changed_input(const Tactic& tactic, int placement);
  // The whole storage of one output.
  Result<std::vector<uint8_t>> output(const Tactic& tactic, size_t index, int placement);

 private:
  // A tensor as it lies in memory, and its checksum there.
  struct Placed {
    DeviceMemory memory;
    int64_t offset = 0, bytes = 0;
    uint64_t checksum = 0;
    void* data() const { return static_cast<char*>(memory.data()) + offset; }
  };
  // Part of an allocation with red zones on both sides; the allocation may be larger.
  struct Guarded {
    DeviceMemory memory;
    int64_t bytes = 0;
    int64_t offset = 0;  // of the first red zone
    void* begin() const { return static_cast<char*>(memory.data()) + offset; }
    void* data() const;
    void* end() const { return static_cast<char*>(data()) + bytes; }
  };
  using InputKey = std::tuple<size_t, Format, Resolution, int>;  // the last: its placement

  Result<const Placed*> input(size_t index, const Format& format, Resolution resolution,
                              int placement);
  Result<uint64_t> stored_checksum(const Placed& placed);
  Status fill_input(const InputKey& key, Placed& placed);
  InputKey key_of(const Tactic& tactic, size_t index, int placement) const;
  bool is_fed(size_t index) const;
  Result<Guarded> output_memory(const Tactic& tactic, size_t index, int placement);
  Result<Guarded> workspace(int64_t bytes, int placement);
  Status guard(const Guarded& g, uint8_t poison);
  Result<bool> intact(const Guarded& g);
  Result<DeviceMemory> allocate_guarded(int64_t bytes, int placement);
  Result<std::vector<uint8_t>> download(const void* from, int64_t bytes);

  const Problem& problem_;
  const ProbeData& data_;
  Device& device_;
  const int placements_;
  std::unique_ptr<Stream> stream_;
  std::map<InputKey, Placed> inputs_;
  std::map<std::tuple<size_t, int, int64_t>, DeviceMemory> outputs_;  // by index, placement, room
  std::map<int, DeviceMemory> workspaces_;  // the largest so far, by placement
  std::vector<DeviceMemory> outgrown_;      // workspaces whose addresses are in recorded launches
};

// What one launch of it needs: what it was offered with or, where that is more, was prepared with.
int64_t workspace_of(const Tactic& tactic, const PreparedTactic& prepared);

// An upper bound of what a tensor takes in any format: its widest type, its channels padded to the
// widest block.
int64_t max_bytes(const TensorType& type);
// What a launch of the problem reads and writes besides weights, at most.
int64_t activation_bytes(const Problem& problem);

}  // namespace enginery
