// Execution: one thread's use of a program: its arena, its streams, its recorded launches. What the
// public ExecutionContext wraps.
//
// Flow: set_inputs -> launch -> get_outputs -> wait, which `run` does in one call; `enqueue` does
// the first three on a stream of the caller's. Belongs to one thread at a time; several executions
// of one program may run in parallel. Memory of the device is used in place, on a CPU all of it;
// what lies elsewhere is staged.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/device/measurer.h"
#include "engine/runtime/program.h"
#include "engine/tensor/tensor.h"
#include "enginery/memory.h"

namespace enginery {

class Execution {
  struct MakeKey {
    explicit MakeKey() = default;
  };

 public:
  // Allocates the arena and the streams; memory for staging when it is first needed. Errors:
  // out_of_memory, device_lost.
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
  // The same with each tensor where it says. What the device's default stream was given before is
  // over before anything in the device's memory is read or written.
  Status run(std::span<const TensorMemory> inputs, std::span<const TensorMemory> outputs);
  // The same without waiting, on a stream of the caller's (Interop::borrow_stream), in device
  // memory alone. Into a stream that is being recorded it gives the steps one by one, and allocates
  // and launches nothing. The memory, and this execution, must stay until that work is over, and
  // nothing else may run here meanwhile. Errors: also invalid_argument (host memory that the device
  // does not share), unsupported (a device without interop).
  Status enqueue(std::span<const TensorMemory> inputs, std::span<const TensorMemory> outputs,
                 void* callers_stream);

  // As run, slowly, one step after another on one stream. `around` is called for each step that
  // launches anything, and calls `launch` once, which waits for its end.
  using AroundStep = std::function<Status(size_t step, const Arguments& arguments,
                                          const std::function<Status()>& launch)>;
  Status run_step_by_step(std::span<const void* const> inputs, std::span<void* const> outputs,
                          const AroundStep& around);
  // What lies at one of a step's addresses: for `around`, before or after the launch. Errors: those
  // of a copy.
  Result<Tensor> read(const void* address, const Dims& dims, const Format& format);

  // The parts of run in host memory, for benchmarks: binding (and on a device copying) the inputs,
  // the launch alone, the outputs. Errors: as of run; invalid_argument where no inputs were set
  // before a launch.
  Status set_inputs(std::span<const void* const> inputs, std::span<void* const> outputs);
  Status launch();
  Status wait() { return stream_->synchronize(); }
  Status get_outputs(std::span<void* const> outputs);

  // Device time of the whole plan in microseconds, by the device's instrument, of a run behind
  // another one; of a long plan whose weights do not stay in the caches only the first time.
  // Errors: unsupported (the device cannot measure), those of a launch.
  Result<double> time_us();
  // The same for each step alone, parallel to Plan::steps: the median of `rounds`, at least 1; 0
  // for views.
  Result<std::vector<double>> profile(int rounds);

  Stream& stream() { return *stream_; }
  const Plan& plan() const { return program_->plan(); }
  int64_t arena_bytes() const { return program_->plan().arena_bytes; }

 private:
  using Memories = std::span<const TensorMemory>;

  Status set_up();
  Status check_buffers(Memories inputs, Memories outputs) const;
  Status check_buffer(const char* role, size_t index, int tensor, const void* buffer) const;
  Status require_on_device(const char* role, Memories memories, const std::vector<int>& of) const;
  Status require_inputs_set() const;
  bool outgrows_plan(size_t step) const;
  bool warms_itself() const;
  bool is_in_place(const TensorMemory& memory) const;
  size_t bytes_of_tensor(int tensor) const;
  Result<void*> address_for(const TensorMemory& memory, size_t staging, int tensor);
  Status place(Memories inputs, Memories outputs);
  Status follow_default_stream(Memories inputs, Memories outputs);
  Status copy_inputs(Memories inputs);
  Status copy_outputs(Memories outputs, Stream& stream);
  Status record_launches();
  Status launch_on(Stream& stream);
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
  std::vector<DeviceMemory> staging_;     // of inputs, then outputs; empty where not needed so far
  std::vector<void*> storage_addresses_;  // of every storage
  std::vector<const void*> input_slots_;  // of all steps, one after the other
  std::vector<void*> output_slots_;
  struct StepSlots {
    size_t input, output;  // where the step's slots begin
  };
  std::vector<StepSlots> slots_;
  bool inputs_set_ = false;
  bool moved_ = false;                     // addresses have changed, and nothing was launched since
  std::unique_ptr<CommandList> list_;      // recorded by the first launch at these addresses
  double timed_us_ = 0;                    // by the last time_us()
  std::vector<LaunchBatch> step_batches_;  // recorded by the first profile(); empty for views
};

}  // namespace enginery
