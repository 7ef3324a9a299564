// The runtime's public face: load an engine file, make execution contexts, run.
//
//   auto engine = Engine::load("resnet50.h200.engine");
//   auto context = engine->create_context();
//   context->run(inputs, outputs);
//
// An Engine is shared: any number of threads may use it and make contexts. A context belongs to one
// thread at a time. No type of a device library appears here.
//
// Nothing here throws, aborts or takes a wrong argument for granted: every failure is an Error,
// also where memory runs out or an object was moved from. OpenMP's settings, the threads' cores and
// the floating-point mode of the calling program are after each call as they were before it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "enginery/memory.h"
#include "enginery/types.h"

namespace enginery {

// An input or output: dense, row-major, in the order and with the types of the model.
struct TensorInfo {
  std::string name;
  TensorType type;
  // The dimensions of an output whose sizes are known after a run alone (output_dims); `type` has
  // the largest ones. The elements are dense under the actual sizes, with zeros behind them.
  std::vector<int64_t> run_time_axes = {};
};

struct LoadOptions {
  int threads = 0;          // CPU: 0 = the number that the engine was built with
  int device_index = 0;     // GPU: which of the visible ones
  std::string keys_folder;  // whose keys are trusted; empty = the user's (enginery keys show)
};

// What becomes of the memory that an engine is loaded from.
enum class EngineMemory {
  copied,   // the caller may free it after the call
  borrowed  // read where it is for as long as the engine or one of its contexts lives
};

// One layer as it runs.
struct LayerInfo {
  std::string name, op, tactic;
  std::string problem;  // what was tuned: operator, shapes, epilogue; the timing cache's key
  int stream = 0;       // which of the streams that run side by side
  std::vector<std::string> inputs, outputs;  // "name float32[1x64x56x56] nhwc"
  double flops = 0, bytes = 0;  // arithmetic, and the bytes that must move at least, in its formats
  double roofline_us =
      0;  // the least that this device's peaks allow; 0 where they or it are not known
  double median_us =
      0;  // as measured when the engine was built; 0 for views and provisional engines
  int64_t workspace_bytes = 0;  // scratch memory in the arena while the layer runs
};

// What an engine is and where it comes from.
struct EngineInfo {
  std::string name, sku, kind, content_digest, digest, builder, model_digest, structure_digest,
      signer, portability;
  std::vector<std::string> precisions;
  int threads = 1, level = 3;
  bool provisional = false;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<LayerInfo> layers;
  std::vector<std::pair<std::string, std::string>> software, hardware, provenance;
  double median_us = 0;
  int64_t weights_bytes = 0, arena_bytes = 0, file_bytes = 0;
};

class ExecutionContext {
 public:
  ExecutionContext(ExecutionContext&&) noexcept;
  ExecutionContext& operator=(ExecutionContext&&) noexcept;
  ~ExecutionContext();

  // Runs once and waits. Host buffers, one for each input and each output in the order of
  // EngineInfo, each of its tensor's size; on a CPU they are used in place and must be aligned to
  // their element type. Errors: invalid_argument (another number of buffers, a null or misaligned
  // one), out_of_memory, unavailable (the device is lost).
  Status run(std::span<const void* const> inputs, std::span<void* const> outputs);

  // The same with each tensor where it says: a GPU's memory is used in place.
  Status run_in(std::span<const TensorMemory> inputs, std::span<const TensorMemory> outputs);
  // The same on a stream of the caller's (a CUstream; null on a CPU), without waiting for it, in
  // memory of the device. Memory and context must stay until that work is over, and the context
  // may run nothing else meanwhile. Errors: also invalid_argument (host memory for a GPU).
  Status enqueue(std::span<const TensorMemory> inputs, std::span<const TensorMemory> outputs,
                 void* stream);
  // The dims of an output as the last run made it; after `enqueue` once its stream has done the
  // work. Those of EngineInfo unless it has run_time_axes. Errors: invalid_argument (no such
  // output, no run so far), those of a copy from the device.
  Result<Dims> output_dims(size_t output);

  // Whether a tensor of so many bytes can be given there as memory of the device. Errors:
  // invalid_argument where the device cannot use it in place, with the reason.
  Status require_device_memory(const void* data, size_t bytes) const;

  // The launch alone, on the inputs of the last run: device time in microseconds. For benchmarks
  // without transfers. Errors: those of a run; invalid_argument before the first one.
  Result<double> time_us();
  // Medians of each layer's device time over `rounds`, at least 1, parallel to EngineInfo::layers.
  // Errors: as of time_us.
  Result<std::vector<double>> profile(int rounds);

 private:
  friend class Engine;
  struct State;
  explicit ExecutionContext(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

class Engine {
 public:
  // Errors: not_found, untrusted (tampered, unknown key: verified before anything is said of it),
  // incompatible (another SKU or instruction-set cap, another library version), unavailable (no
  // driver), out_of_memory.
  static Result<Engine> load(const std::string& file, const LoadOptions& options = {});

  // The same for a file's bytes in memory. `borrowed` ones must not change, and begin at a multiple
  // of 64 bytes (a mapped file does). Errors: those of load; invalid_argument (misaligned).
  static Result<Engine> load_memory(std::span<const std::byte> file, EngineMemory memory,
                                    const LoadOptions& options = {});

  // What the file says, without a device: for inspection. Errors: not_found, untrusted.
  static Result<EngineInfo> inspect(const std::string& file, const LoadOptions& options = {});

  // Lives as long as the engine; empty where this one was moved from.
  const EngineInfo& info() const;
  // The device's state as "name", value pairs (clock_mhz, temperature_c, foreign_load, ...), and
  // its threads.
  std::vector<std::pair<std::string, double>> device_state() const;
  int threads() const;
  // "cpu" or "cuda", and which of the visible GPUs; empty text where the engine was moved from.
  std::string_view device_kind() const;
  int device_index() const;
  // Memory that this engine's packed weights take on the device, shared by all contexts; each
  // context takes EngineInfo::arena_bytes more.
  int64_t packed_weight_bytes() const;

  // Memory and streams of its own; the engine's weights stay shared and alive. Errors:
  // out_of_memory, unavailable.
  Result<ExecutionContext> create_context() const;
  // The same in memory of the caller's instead of EngineInfo::arena_bytes of its own, of the kind
  // that the engine's device uses: a GPU's is on the GPU. It must stay until the context ends, and
  // is one context's alone. Errors: also invalid_argument (null, too small, not at a multiple of
  // 256 bytes).
  Result<ExecutionContext> create_context_in(std::span<std::byte> memory) const;

 private:
  friend class ExecutionContext;
  struct State;
  explicit Engine(std::shared_ptr<const State> state);
  template <typename Make>
  Result<ExecutionContext> new_context(Make&& make) const;
  // `name` is what messages call the file; its plan's constants are read from `file`.
  static Result<Engine> open(const std::string& name, std::span<const std::byte> file,
                             const std::shared_ptr<const void>& keep_alive,
                             const LoadOptions& options);
  std::shared_ptr<const State> state_;
};

}  // namespace enginery
