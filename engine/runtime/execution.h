// Execution: one thread's use of a program: its arena, its stream, its launches. What the public
// ExecutionContext wraps.
//
// Belongs to one thread at a time. On a device that shares host memory the caller's buffers are
// used in place; on the others inputs and outputs are staged.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/device/timed_unit.h"
#include "engine/runtime/program.h"

namespace enginery {

class Execution {
 public:
  static Result<std::unique_ptr<Execution>> make(std::shared_ptr<const Program> program);

  // Copies in, launches, copies out, waits. Buffers are dense, linear, in the plan's order and
  // sizes.
  Status run(std::span<const void* const> inputs, std::span<void* const> outputs);

  // The parts of run, for benchmarks: binding (and on a device copying) the inputs, the launch
  // alone, the outputs.
  Status set_inputs(std::span<const void* const> inputs, std::span<void* const> outputs);
  Status launch();
  Status wait() { return stream_->synchronize(); }
  Status get_outputs(std::span<void* const> outputs);

  // Device time of the whole plan, and of each step (0 for views), by the device's instrument;
  // medians of `rounds`.
  Result<double> time_us();
  Result<std::vector<double>> profile(int rounds);

  Stream& stream() { return *stream_; }
  int64_t arena_bytes() const { return program_->plan().arena_bytes; }

 private:
  explicit Execution(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  Status set_up();
  bool outgrows_plan(size_t step) const;
  void bind_storages();
  Status enqueue_step(Stream& stream, size_t index);
  Status enqueue_all(Stream& stream);
  Status enqueue_side_by_side(Stream& stream);

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Stream>> side_streams_;  // 1, 2, ... of the plan
  DeviceMemory arena_;
  std::vector<DeviceMemory>
      wide_workspaces_;  // of each stream, for steps whose workspace has outgrown the planned one
  std::vector<DeviceMemory> staging_;     // inputs, then outputs; empty where host memory is shared
  std::vector<void*> storage_addresses_;  // of every storage
  std::vector<const void*> input_slots_;  // of all steps, one after the other
  std::vector<void*> output_slots_;
  struct StepSlots {
    size_t input, output;
  };
  std::vector<StepSlots> slots_;
  std::unique_ptr<CommandList> sequence_;
  std::vector<TimedUnit> step_units_;  // made by the first profile(); empty for views
};

}  // namespace enginery
