// Execution: one thread's use of a program: its arena, its streams, its recorded launches. What the
// public ExecutionContext wraps.
//
// Flow: set_inputs -> launch -> get_outputs -> wait, which `run` does in one call. Belongs to one
// thread at a time; several executions of one program may run in parallel. On a device that shares
// host memory the caller's buffers are used in place; on the others inputs and outputs are staged.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/measurer.h"
#include "engine/runtime/program.h"
#include "engine/tensor/tensor.h"

namespace enginery {

class Execution {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // Allocates the arena, the streams and what staging needs. Errors: out_of_memory, device_lost.
  static Result<std::unique_ptr<Execution>> make(std::shared_ptr<const Program> program);
  // The same with an arena of the caller's, of the device's memory. Errors: also invalid_argument
  // (null, too small, or not at a multiple of kArenaAlignment, plan/memory.h).
  static Result<std::unique_ptr<Execution>> make_in(std::shared_ptr<const Program> program,
                                                    DeviceMemory arena);
  // For make() alone.
  Execution(MakeKey, std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  // Copies in, launches, copies out, waits. Buffers are dense and linear, in the order and sizes of
  // Plan::inputs and Plan::outputs. Errors: invalid_argument (another number of buffers, a null or
  // misaligned one), those of a launch; device_lost.
  Status run(std::span<const void* const> inputs, std::span<void* const> outputs);

  // The same, slowly, one step after another on one stream. `around` is called for each step that
  // launches anything, and calls `launch` once, which waits for its end.
  using AroundStep = std::function<Status(size_t step, const Arguments& arguments,
                                          const std::function<Status()>& launch)>;
  Status run_step_by_step(std::span<const void* const> inputs, std::span<void* const> outputs,
                          const AroundStep& around);

  // The parts of run, for benchmarks: binding (and on a device copying) the inputs, the launch
  // alone, the outputs. Errors: as of run; invalid_argument where no inputs were set before a
  // launch.
  Status set_inputs(std::span<const void* const> inputs, std::span<void* const> outputs);
  Status launch();
  Status wait() { return stream_->synchronize(); }
  Status get_outputs(std::span<void* const> outputs);

  // Device time of the whole plan in microseconds, by the device's instrument. Errors: unsupported
  // (the device cannot measure), those of a launch.
  Result<double> time_us();
  // The same for each step alone, parallel to Plan::steps: the median of `rounds`, at least 1; 0
  // for views.
  Result<std::vector<double>> profile(int rounds);

  Stream& stream() { return *stream_; }
  const Plan& plan() const { return program_->plan(); }
  int64_t arena_bytes() const { return program_->plan().arena_bytes; }

 private:
  Status set_up();
  Status set_up_staging();
  Status check_buffers(std::span<const void* const> inputs, std::span<void* const> outputs) const;
  Status check_buffer(const char* role, size_t index, int tensor, const void* buffer) const;
  Status require_inputs_set() const;
  bool outgrows_plan(size_t step) const;
  void bind_storages();
  void* address_of(int tensor) const;
  Arguments arguments_of(size_t index);
  Status enqueue_step(Stream& stream, size_t index);
  Status enqueue_all(Stream& stream);
  Status enqueue_side_by_side(Stream& stream);

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Stream> stream_;
  std::vector<std::unique_ptr<Stream>> side_streams_;  // 1, 2, ... of the plan
  DeviceMemory arena_;
  // One for each stream, for steps that need more workspace here than was planned.
  std::vector<DeviceMemory> wide_workspaces_;
  std::vector<DeviceMemory> staging_;     // inputs, then outputs; empty where host memory is shared
  std::vector<void*> storage_addresses_;  // of every storage
  std::vector<const void*> input_slots_;  // of all steps, one after the other
  std::vector<void*> output_slots_;
  struct StepSlots {
    size_t input, output;  // where the step's slots begin
  };
  std::vector<StepSlots> slots_;
  bool inputs_set_ = false;
  std::unique_ptr<CommandList> list_;      // recorded by the first launch
  std::vector<LaunchBatch> step_batches_;  // recorded by the first profile(); empty for views
};

}  // namespace enginery
