#include "enginery/engine.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "engine/base/file.h"
#include "engine/base/mapped_file.h"
#include "engine/base/parallel.h"
#include "engine/device/interop.h"
#include "engine/device/measurer.h"
#include "engine/format/engine_reading.h"
#include "engine/format/sections.h"
#include "engine/runtime/execution.h"
#include "engine/runtime/output_sizes.h"
#include "engine/runtime/roofline.h"

namespace enginery {
namespace {

std::string describe(const Plan& plan, int tensor) {
  const PlanTensor& t = plan.tensors[static_cast<size_t>(tensor)];
  return t.name + " " + to_string(t.type) + " " + to_string(t.format.layout);
}

// Inputs, weights and outputs once, each in the type in which the tactic reads or writes it; of a
// strided convolution's input what it reads.
double bytes_in_formats(const PlanStep& step) {
  const double weight_bytes =
      step.tactic.compute == Precision::fp16 || step.tactic.compute == Precision::bf16 ? 2 : 4;
  const auto read_of = [&](size_t input) {
    const bool linear = step.tactic.inputs[input].layout.kind == LayoutKind::linear;
    return input == 0 ? share_read(step.problem, linear) : 1.0;
  };
  double bytes = 0;
  for (size_t i = 0; i < step.problem.inputs.size(); ++i) {
    const TensorDesc& desc = step.problem.inputs[i];
    if (!desc.present || desc.value) continue;
    bytes += desc.constant
                 ? weight_bytes * static_cast<double>(volume(desc.type.dims))
                 : read_of(i) *
                       static_cast<double>(physical_bytes(desc.type.dims, step.tactic.inputs[i]));
  }
  for (size_t i = 0; i < step.problem.outputs.size(); ++i) {
    bytes += static_cast<double>(
        physical_bytes(step.problem.outputs[i].type.dims, without_pitch(step.tactic.outputs[i])));
  }
  return bytes;
}

LayerInfo layer_info(const Plan& plan, size_t index) {
  const PlanStep& step = plan.steps[index];
  LayerInfo out;
  out.name = step.name;
  out.op = is_reformat(step.problem) ? "reformat" : operator_names(step.problem);
  out.tactic = tactic_key(step.tactic);
  out.problem = step.problem.key();
  out.stream = step.stream;
  for (int t : step.inputs) {
    if (t >= 0) out.inputs.push_back(describe(plan, t));
  }
  for (int t : step.outputs) out.outputs.push_back(describe(plan, t));
  out.flops = flop_count(step.problem);
  out.bytes = step.tactic.view_of >= 0 ? 0 : bytes_in_formats(step);
  out.workspace_bytes = step.tactic.workspace_bytes;
  return out;
}

std::vector<TensorInfo> tensor_infos(const std::vector<NamedType>& types) {
  std::vector<TensorInfo> out;
  for (const NamedType& t : types) out.push_back({t.name, t.type});
  return out;
}

// Of manifest and plan.
EngineInfo engine_info(const EngineFile& file) {
  const Manifest& m = file.manifest;
  EngineInfo out;
  out.name = m.name;
  out.sku = m.sku;
  out.kind = std::string(to_string(m.kind));
  out.builder = m.builder;
  out.model_digest = m.model_digest;
  out.structure_digest = m.structure_digest;
  out.portability = m.portability;
  out.precisions = m.precisions;
  out.threads = m.threads;
  out.level = m.level;
  out.provisional = m.provisional;
  out.inputs = tensor_infos(m.inputs);
  out.outputs = tensor_infos(m.outputs);
  out.outputs.resize(own_output_count(m.run_time_sizes, m.outputs.size()));
  for (const RunTimeSize& size : m.run_time_sizes)
    out.outputs[size.output].run_time_axes.push_back(size.axis);
  for (size_t i = 0; i < file.plan.steps.size(); ++i)
    out.layers.push_back(layer_info(file.plan, i));
  out.software = m.software;
  out.weights_bytes = file.plan.weights_bytes();
  out.arena_bytes = file.plan.arena_bytes;
  return out;
}

// What is known only of a file that was read to its end.
void add_provenance(const EngineFile& file, EngineInfo& info) {
  const Provenance& provenance = file.provenance;
  info.content_digest = file.content_digest.text();
  info.digest = file.file_digest.text();
  info.signer = key_id(file.signer);
  info.hardware = provenance.hardware;
  info.provenance = provenance.facts;
  info.median_us = provenance.median_us;
  info.file_bytes = file.file_bytes;
  for (size_t i = 0; i < std::min(info.layers.size(), provenance.step_us.size()); ++i)
    info.layers[i].median_us = provenance.step_us[i];
}

Error out_of_memory(std::string_view verb, const std::string& object, const char* reason) {
  return {ErrorCode::out_of_memory, std::string(verb) + object + ": " + reason};
}

// The error of what the standard library has thrown. Where not even its message finds room, a text
// that needs no memory.
Error thrown_error(std::string_view verb, const std::string& object) {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return out_of_memory(verb, object, "out of memory");
    } catch (const std::length_error&) {
      return out_of_memory(verb, object, "larger than memory can be");
    } catch (const std::system_error& e) {
      return out_of_memory(verb, object, e.what());
    } catch (const std::exception& e) {
      return {ErrorCode::internal, std::string(verb) + object + ": " + e.what()};
    }
  } catch (const std::bad_alloc&) {
    return {ErrorCode::out_of_memory, "out of memory"};
  }
}

// The value of f; what the standard library throws inside becomes an error ("VERB OBJECT: ..."), so
// that a program that loads engines never sees an exception.
template <typename F>
auto without_exceptions(std::string_view verb, const std::string& object, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (...) {
    return thrown_error(verb, object);
  }
}

Error moved_from(const std::string& what) {
  return {ErrorCode::invalid_argument, what + ": the object was moved from"};
}

Result<TrustStore> trusted_keys(const LoadOptions& options) {
  return TrustStore::load(options.keys_folder.empty() ? data_folder() / "keys"
                                                      : std::filesystem::path(options.keys_folder));
}

// An SKU that this machine does not have, or does not know, is an engine for another machine.
Error no_such_device(Error error, const std::string& what) {
  if (error.code == ErrorCode::not_found) error.code = ErrorCode::incompatible;
  return error.within(what);
}

}  // namespace

struct Engine::State {
  EngineInfo info;
  int device_index = 0;
  std::unique_ptr<Device> device;
  TacticSources sources;
  std::shared_ptr<const Program> program;
  RunTimeSizes run_time_sizes;

  // Everything that takes no provenance; the plan moves into the program. Errors: those of load
  // but `untrusted`.
  Status prepare(const std::string& name, EngineFile& file, const LoadOptions& options);
  void add_rooflines(const Provenance& provenance);
};

struct ExecutionContext::State {
  std::shared_ptr<const Engine::State> engine;
  std::unique_ptr<Execution> execution;
  OutputSizes sizes;
  bool has_run = false;

  // `run` takes the memory of all outputs, the counts of sizes included.
  template <typename Run>
  Status run_with(std::span<const TensorMemory> outputs, Run&& run) {
    const Status ran = sizes.any() ? run(sizes.with_counts(outputs)) : run(outputs);
    has_run |= ran.ok();
    return ran;
  }
};

Engine::Engine(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Result<EngineInfo> Engine::inspect(const std::string& file, const LoadOptions& options) {
  return without_exceptions("inspect ", file, [&]() -> Result<EngineInfo> {
    TRY(const MappedFile loaded, load_file(file));
    TRY(const TrustStore trust, trusted_keys(options));
    auto engine = read_engine(loaded.bytes, loaded.keep_alive, trust);
    if (!engine) return engine.error().within(file);
    EngineInfo info = engine_info(*engine);
    add_provenance(*engine, info);
    return info;
  });
}

Result<Engine> Engine::load(const std::string& file, const LoadOptions& options) {
  return without_exceptions("load ", file, [&]() -> Result<Engine> {
    TRY(const MappedFile loaded, load_file(file));
    return open(file, loaded.bytes, loaded.keep_alive, options);
  });
}

Result<Engine> Engine::load_memory(std::span<const std::byte> file, EngineMemory memory,
                                   const LoadOptions& options) {
  const std::string name = "engine in memory";
  return without_exceptions("load an ", name, [&]() -> Result<Engine> {
    if (memory == EngineMemory::borrowed) {
      if (reinterpret_cast<uintptr_t>(file.data()) % kSectionAlignment == 0)
        return open(name, file, nullptr, options);
      return Error{ErrorCode::invalid_argument, "load an " + name +
                                                    ": borrowed bytes begin at a multiple of " +
                                                    std::to_string(kSectionAlignment) + " bytes"};
    }
    const auto copy = std::make_shared<const Bytes>(as_text(file));
    return open(name, as_bytes(*copy), copy, options);
  });
}

Result<Engine> Engine::open(const std::string& name, std::span<const std::byte> file,
                            const std::shared_ptr<const void>& keep_alive,
                            const LoadOptions& options) {
  TRY(const TrustStore trust, trusted_keys(options));
  auto reading = EngineReading::begin(file, keep_alive, trust);
  if (!reading) return reading.error().within(name);
  EngineFile& engine = reading->engine();
  auto state = std::make_shared<State>();
  state->info = engine_info(engine);
  // As many threads as cores beside the one that hashes would take its core from it in turns.
  const ParallelLimit others(allowed_core_count() - (reading->is_hashing() ? 1 : 0));
  const Status prepared = state->prepare(name, engine, options);
  // The verdict over the bytes goes before everything that is said of what they mean.
  if (const Status read = reading->finish(); !read.ok()) return read.error().within(name);
  CHECK_OK(prepared);
  add_provenance(engine, state->info);
  state->add_rooflines(engine.provenance);
  return Engine(std::move(state));
}

Status Engine::State::prepare(const std::string& name, EngineFile& file,
                              const LoadOptions& options) {
  DeviceOptions asked;
  asked.threads = options.threads > 0 ? options.threads : file.manifest.threads;
  asked.index = options.device_index;
  auto opened = open_device(file.manifest.sku, asked);
  if (!opened)
    return no_such_device(opened.error(), name + " is an engine for " + file.manifest.sku);
  device = std::move(*opened);
  if (device->info().kind == DeviceKind::cuda) device_index = options.device_index;
  SourceFilter needed;
  for (const PlanStep& step : file.plan.steps) needed.only.insert(step.tactic.source);
  TRY(sources, make_tactic_sources(*device, needed));
  auto made = Program::make(std::move(file.plan), *device, sources, {}, PlanWeights::let_go);
  if (!made) return made.error().within(name);
  program = std::move(*made);
  run_time_sizes = std::move(file.manifest.run_time_sizes);
  return {};
}

void Engine::State::add_rooflines(const Provenance& provenance) {
  const Ceilings ceilings = ceilings_of(device->info(), provenance.facts);
  const std::vector<PlanStep>& steps = program->plan().steps;
  for (size_t i = 0; i < steps.size(); ++i) {
    LayerInfo& layer = info.layers[i];
    layer.roofline_us =
        roofline_us(layer.flops, layer.bytes,
                    arithmetic_of(steps[i].problem, steps[i].tactic.compute), ceilings);
  }
}

const EngineInfo& Engine::info() const {
  static const EngineInfo kNone;
  return state_ ? state_->info : kNone;
}
int Engine::threads() const {
  return state_ ? state_->device->info().threads : 0;
}
std::string_view Engine::device_kind() const {
  return state_ ? to_string(state_->device->info().kind) : std::string_view();
}
int Engine::device_index() const {
  return state_ ? state_->device_index : 0;
}
int64_t Engine::packed_weight_bytes() const {
  return state_ ? state_->program->packed_weight_bytes() : 0;
}

std::vector<std::pair<std::string, double>> Engine::device_state() const {
  Measurer* measurer = state_ ? state_->device->measurer() : nullptr;
  if (!measurer) return {};
  DeviceState s = measurer->state();
  return {{"clock_mhz", s.clock_mhz},
          {"memory_clock_mhz", s.memory_clock_mhz},
          {"temperature_c", s.temperature_c},
          {"power_w", s.power_w},
          {"throttle_bits", static_cast<double>(s.throttle_bits)},
          {"foreign_load", s.foreign_load}};
}

// `make` gives the execution of a program.
template <typename Make>
Result<ExecutionContext> Engine::new_context(Make&& make) const {
  if (!state_) return moved_from("create a context");
  return without_exceptions("create a context", {}, [&]() -> Result<ExecutionContext> {
    auto state = std::make_unique<ExecutionContext::State>();
    state->engine = state_;
    TRY(state->execution, make(state_->program));
    TRY(state->sizes, OutputSizes::make(state_->run_time_sizes,
                                        state_->program->plan().outputs.size(), *state_->device));
    return ExecutionContext(std::move(state));
  });
}

Result<ExecutionContext> Engine::create_context() const {
  return new_context([](const auto& program) { return Execution::make(program); });
}

Result<ExecutionContext> Engine::create_context_in(std::span<std::byte> memory) const {
  return new_context([memory](const auto& program) {
    DeviceMemory arena(memory.data(), memory.size(), [](void*) {});
    return Execution::make_in(program, std::move(arena));
  });
}

ExecutionContext::ExecutionContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
ExecutionContext::ExecutionContext(ExecutionContext&&) noexcept = default;
ExecutionContext& ExecutionContext::operator=(ExecutionContext&&) noexcept = default;
ExecutionContext::~ExecutionContext() = default;

Status ExecutionContext::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
  if (!state_) return moved_from("run");
  return without_exceptions("run", {}, [&]() -> Status {
    if (!state_->sizes.any()) {
      const Status ran = state_->execution->run(inputs, outputs);
      state_->has_run |= ran.ok();
      return ran;
    }
    std::vector<TensorMemory> from, to;
    for (const void* input : inputs) from.push_back({const_cast<void*>(input), MemoryKind::host});
    for (void* output : outputs) to.push_back({output, MemoryKind::host});
    return run_in(from, to);
  });
}
Status ExecutionContext::run_in(std::span<const TensorMemory> inputs,
                                std::span<const TensorMemory> outputs) {
  if (!state_) return moved_from("run");
  return without_exceptions("run", {}, [&] {
    return state_->run_with(outputs, [&](std::span<const TensorMemory> all) {
      return state_->execution->run(inputs, all);
    });
  });
}
Status ExecutionContext::enqueue(std::span<const TensorMemory> inputs,
                                 std::span<const TensorMemory> outputs, void* stream) {
  if (!state_) return moved_from("enqueue");
  return without_exceptions("enqueue", {}, [&] {
    return state_->run_with(outputs, [&](std::span<const TensorMemory> all) {
      return state_->execution->enqueue(inputs, all, stream);
    });
  });
}
Result<Dims> ExecutionContext::output_dims(size_t output) {
  if (!state_) return moved_from("ask for an output's dims");
  return without_exceptions("ask for an output's dims", {}, [&]() -> Result<Dims> {
    const std::vector<TensorInfo>& outputs = state_->engine->info.outputs;
    const auto wrong = [](const std::string& reason) {
      return Error{ErrorCode::invalid_argument, "the dims of an output: " + reason};
    };
    if (output >= outputs.size())
      return wrong("no output " + std::to_string(output) + ": there are " +
                   std::to_string(outputs.size()));
    if (!state_->has_run) return wrong("run it once first");
    return state_->sizes.dims_of(output, outputs[output].type.dims, *state_->execution);
  });
}
Status ExecutionContext::require_device_memory(const void* data, size_t bytes) const {
  if (!state_) return moved_from("use memory of the device");
  Interop* interop = interop_of(*state_->engine->device);
  return interop ? interop->require_memory(data, bytes) : Status();
}
Result<double> ExecutionContext::time_us() {
  if (!state_) return moved_from("time");
  return without_exceptions("time", {}, [&] { return state_->execution->time_us(); });
}
Result<std::vector<double>> ExecutionContext::profile(int rounds) {
  if (!state_) return moved_from("profile the layers");
  return without_exceptions("profile the layers", {},
                            [&] { return state_->execution->profile(rounds); });
}

}  // namespace enginery
