// Engines of the C interface: load, describe, destroy.
#include "engine/base/mapped_file.h"
#include "engine/c_api/growing_struct.h"
#include "engine/c_api/objects.h"

namespace enginery {
namespace {

LoadOptions load_options(const enginery_load_options& from) {
  LoadOptions out;
  out.threads = from.threads;
  out.device_index = from.device_index;
  if (from.keys_folder) out.keys_folder = from.keys_folder;
  return out;
}

// What the two ways to load share; `load` gives the engine.
template <typename Load>
enginery_status load_engine(const void* source, const enginery_load_options* options,
                            enginery_engine** engine, Load&& load) {
  return outcome_of([&]() -> Failure {
    if (!engine) return invalid_call("the place for the engine is null");
    *engine = nullptr;
    if (!source) return invalid_call("the engine's file or memory is null");
    enginery_load_options all{};
    const Failure unread = read_struct("enginery_load_options", options, all);
    if (unread.status() != ENGINERY_OK) return unread;
    if (all.threads < 0 || all.device_index < 0)
      return invalid_call("threads and device_index are numbers from 0");
    Result<EngineObject> loaded = load(all);
    if (!loaded) return loaded.error();
    auto object = std::make_shared<EngineObject>(std::move(*loaded));
    *engine = EngineHandles::table().add(std::move(object));
    return {};
  });
}

Result<EngineObject> load_file(const char* path, const enginery_load_options& options) {
  if (!options.map_file) {
    TRY(Engine engine, Engine::load(path, load_options(options)));
    return EngineObject{nullptr, std::move(engine)};
  }
  TRY(MappedFile file, map_file(path));
  auto engine = Engine::load_memory(file.bytes, EngineMemory::borrowed, load_options(options));
  if (!engine) return engine.error().within(path);
  let_pages_go(file);  // most weights are packed elsewhere by now
  return EngineObject{std::move(file.keep_alive), std::move(*engine)};
}

Result<EngineObject> load_bytes(std::span<const std::byte> bytes,
                                const enginery_load_options& options) {
  const auto memory = options.borrow_memory ? EngineMemory::borrowed : EngineMemory::copied;
  TRY(Engine engine, Engine::load_memory(bytes, memory, load_options(options)));
  return EngineObject{nullptr, std::move(engine)};
}

enginery_tensor_info describe_tensor(const TensorInfo& tensor, bool is_input) {
  enginery_tensor_info out{};
  out.name = tensor.name.c_str();
  out.dims = tensor.type.dims.data();
  out.rank = static_cast<int32_t>(tensor.type.dims.size());
  out.type = static_cast<enginery_type>(tensor.type.type);
  out.is_input = is_input ? 1 : 0;
  out.bytes = static_cast<size_t>(bytes_of(tensor.type));
  out.run_time_sizes = static_cast<int32_t>(tensor.run_time_axes.size());
  return out;
}

}  // namespace
}  // namespace enginery

using namespace enginery;

enginery_status enginery_engine_load_file(const char* path, const enginery_load_options* options,
                                          enginery_engine** engine) {
  return load_engine(path, options, engine,
                     [path](const enginery_load_options& all) { return load_file(path, all); });
}

enginery_status enginery_engine_load_memory(const void* data, size_t bytes,
                                            const enginery_load_options* options,
                                            enginery_engine** engine) {
  return load_engine(data, options, engine, [&](const enginery_load_options& all) {
    return load_bytes({static_cast<const std::byte*>(data), bytes}, all);
  });
}

enginery_status enginery_engine_destroy(enginery_engine* engine) {
  return outcome_of([&]() -> Failure {
    if (!engine || EngineHandles::table().remove(engine)) return {};
    return find_engine(engine).failure;
  });
}

enginery_status enginery_engine_get_info(const enginery_engine* engine,
                                         enginery_engine_info* info) {
  return outcome_of([&]() -> Failure {
    const FoundEngine found = find_engine(engine);
    if (!found.engine) return found.failure;
    const EngineInfo& from = found.engine->engine.info();
    enginery_engine_info out{};
    out.name = from.name.c_str();
    out.sku = from.sku.c_str();
    out.digest = from.digest.c_str();
    out.signer = from.signer.c_str();
    out.inputs = static_cast<int32_t>(from.inputs.size());
    out.outputs = static_cast<int32_t>(from.outputs.size());
    out.layers = static_cast<int32_t>(from.layers.size());
    out.threads = found.engine->engine.threads();
    out.weights_bytes = found.engine->engine.packed_weight_bytes();
    out.context_bytes = from.arena_bytes;
    out.median_us = from.median_us;
    out.device = found.engine->engine.device_kind().data();  // of a literal, which ends with a zero
    out.device_index = found.engine->engine.device_index();
    return fill_struct("enginery_engine_info", out, info);
  });
}

enginery_status enginery_engine_get_tensor(const enginery_engine* engine, int32_t index,
                                           enginery_tensor_info* info) {
  return outcome_of([&]() -> Failure {
    const FoundEngine found = find_engine(engine);
    if (!found.engine) return found.failure;
    const EngineInfo& from = found.engine->engine.info();
    const size_t count = from.inputs.size() + from.outputs.size();
    if (index < 0 || static_cast<size_t>(index) >= count)
      return invalid_call("no tensor " + std::to_string(index) + ": there are " +
                          std::to_string(count));
    const auto i = static_cast<size_t>(index);
    const bool is_input = i < from.inputs.size();
    const TensorInfo& tensor = is_input ? from.inputs[i] : from.outputs[i - from.inputs.size()];
    return fill_struct("enginery_tensor_info", describe_tensor(tensor, is_input), info);
  });
}
