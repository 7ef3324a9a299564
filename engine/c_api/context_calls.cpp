// Contexts of the C interface: bind tensors by name, run, profile.
#include <algorithm>

#include "engine/c_api/objects.h"

namespace enginery {
namespace {

std::string names_of(const std::vector<Binding>& bindings) {
  std::string text;
  for (const Binding& b : bindings) text += (text.empty() ? "'" : ", '") + b.tensor.name + "'";
  return text.empty() ? "none" : text;
}

// What the caller says of one tensor.
struct Given {
  const char* name;
  TensorMemory memory;
  size_t bytes;
};

Failure check_given(const ContextObject& context, const TensorInfo& tensor, const Given& given) {
  const auto expected = static_cast<size_t>(bytes_of(tensor.type));
  if (given.bytes != expected)
    return invalid_call("expected " + std::to_string(expected) + " bytes for " +
                        to_string(tensor.type) + ", got " + std::to_string(given.bytes));
  if (!given.memory.data && expected > 0) return invalid_call("its memory is null");
  const auto alignment = static_cast<uintptr_t>(element_bytes(tensor.type.type));
  if (reinterpret_cast<uintptr_t>(given.memory.data) % alignment != 0)
    return invalid_call("its memory is not aligned to the " + std::to_string(alignment) +
                        " bytes of its elements");
  if (given.memory.kind == MemoryKind::host) return {};
  return context.context.require_device_memory(given.memory.data, given.bytes);
}

Failure bind_tensor(const ContextObject& context, const char* role, std::vector<Binding>& bindings,
                    std::vector<TensorMemory>& data, const Given& given) {
  if (!given.name) return invalid_call(std::string("the name of the ") + role + " is null");
  for (size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].tensor.name != given.name) continue;
    const Failure wrong = check_given(context, bindings[i].tensor, given);
    if (wrong.status() != ENGINERY_OK)
      return {wrong.status(), std::string(role) + " '" + given.name + "': " + wrong.message()};
    data[i] = given.memory;
    bindings[i].is_set = true;
    return {};
  }
  return invalid_call(std::string("no ") + role + " '" + given.name +
                      "'; there are: " + names_of(bindings));
}

// Inputs' and outputs' memory alike; an input's is never written through.
Failure memory_of(const void* data, enginery_memory kind, TensorMemory& memory) {
  if (kind != ENGINERY_MEMORY_HOST && kind != ENGINERY_MEMORY_DEVICE)
    return invalid_call("no kind of memory " + std::to_string(kind));
  memory = {const_cast<void*>(data),
            kind == ENGINERY_MEMORY_DEVICE ? MemoryKind::device : MemoryKind::host};
  return {};
}

enum class Role { input, output };

enginery_status set_tensor(enginery_context* context, Role role, const char* name, const void* data,
                           size_t bytes, enginery_memory kind) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    if (!use) return use.failure();
    TensorMemory memory;
    const Failure unknown = memory_of(data, kind, memory);
    if (unknown.status() != ENGINERY_OK) return unknown;
    const Given given{name, memory, bytes};
    return role == Role::input ? bind_tensor(*use, "input", use->inputs, use->input_data, given)
                               : bind_tensor(*use, "output", use->outputs, use->output_data, given);
  });
}

Failure require_set(const char* role, const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    if (!b.is_set)
      return {ENGINERY_ERROR_NOT_SET,
              std::string(role) + " '" + b.tensor.name + "' has not been set"};
  }
  return {};
}

bool overlap(const TensorMemory& a, const TensorInfo& of_a, const TensorMemory& b,
             const TensorInfo& of_b) {
  const auto first = reinterpret_cast<uintptr_t>(a.data);
  const auto second = reinterpret_cast<uintptr_t>(b.data);
  return first < second + static_cast<uintptr_t>(bytes_of(of_b.type)) &&
         second < first + static_cast<uintptr_t>(bytes_of(of_a.type));
}

// Layers write to outputs while they still read inputs.
Failure require_apart(const ContextObject& context) {
  for (size_t o = 0; o < context.outputs.size(); ++o) {
    const TensorInfo& output = context.outputs[o].tensor;
    const auto clash = [&](const TensorInfo& other) {
      return invalid_call("output '" + output.name + "' overlaps '" + other.name + "'");
    };
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const TensorInfo& input = context.inputs[i].tensor;
      if (overlap(context.output_data[o], output, context.input_data[i], input))
        return clash(input);
    }
    for (size_t other = 0; other < o; ++other) {
      const TensorInfo& earlier = context.outputs[other].tensor;
      if (overlap(context.output_data[o], output, context.output_data[other], earlier))
        return clash(earlier);
    }
  }
  return {};
}

// `run` is the runtime's call on the tensors that were set.
template <typename Run>
Failure run_once(ContextObject& context, Run&& run) {
  for (const Failure& failure : {require_set("input", context.inputs),
                                 require_set("output", context.outputs), require_apart(context)}) {
    if (failure.status() != ENGINERY_OK) return failure;
  }
  const Status ran = run(context.context, context.input_data, context.output_data);
  context.has_run |= ran.ok();
  return ran;
}

enginery_layer_info describe_layer(const LayerInfo& layer, double median_us) {
  enginery_layer_info out{};
  out.struct_size = sizeof out;
  out.name = layer.name.c_str();
  out.op = layer.op.c_str();
  out.tactic = layer.tactic.c_str();
  out.flops = layer.flops;
  out.bytes = layer.bytes;
  out.median_us = median_us;
  return out;
}

Failure profile_layers(ContextObject& context, int rounds, enginery_profile_fn report, void* user) {
  if (!report) return invalid_call("the function to report to is null");
  if (!context.has_run)
    return {ENGINERY_ERROR_NOT_SET, "there are no inputs yet: run the context first"};
  const auto medians = context.context.profile(rounds);
  if (!medians) return medians.error();
  for (size_t i = 0; i < medians->size(); ++i) {
    const enginery_layer_info layer = describe_layer(context.layers[i], (*medians)[i]);
    report(user, static_cast<int32_t>(i), &layer);
  }
  return {};
}

Failure copy_dims(ContextObject& context, size_t output, int64_t* dims, int32_t rank) {
  const auto actual = context.context.output_dims(output);
  if (!actual) return actual.error();
  if (std::ssize(*actual) != rank)
    return invalid_call("output '" + context.outputs[output].tensor.name + "' has " +
                        std::to_string(actual->size()) + " dimensions, not " +
                        std::to_string(rank));
  std::copy(actual->begin(), actual->end(), dims);
  return {};
}

Failure output_dims(ContextObject& context, const char* name, int64_t* dims, int32_t rank) {
  if (!name) return invalid_call("the name of the output is null");
  if (!dims && rank != 0) return invalid_call("the place for the dims is null");
  if (!context.has_run)
    return {ENGINERY_ERROR_NOT_SET, "there are no outputs yet: run the context first"};
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    if (context.outputs[i].tensor.name == name) return copy_dims(context, i, dims, rank);
  }
  return invalid_call(std::string("no output '") + name +
                      "'; there are: " + names_of(context.outputs));
}

// What the two ways to create a context share; `create` gives the runtime's.
template <typename Create>
enginery_status add_context(const enginery_engine* engine, enginery_context** context,
                            Create&& create) {
  return outcome_of([&]() -> Failure {
    if (!context) return invalid_call("the place for the context is null");
    *context = nullptr;
    const FoundEngine found = find_engine(engine);
    if (!found.engine) return found.failure;
    Result<ExecutionContext> made = create(found.engine->engine);
    if (!made) return made.error();
    auto object = std::make_shared<ContextObject>(*found.engine, std::move(*made));
    *context = ContextHandles::table().add(std::move(object));
    return {};
  });
}

}  // namespace
}  // namespace enginery

using namespace enginery;

enginery_status enginery_context_create(const enginery_engine* engine, enginery_context** context) {
  return add_context(engine, context, [](const Engine& of) { return of.create_context(); });
}

enginery_status enginery_context_create_in(const enginery_engine* engine, void* memory,
                                           size_t bytes, enginery_context** context) {
  return add_context(engine, context, [&](const Engine& of) {
    return of.create_context_in({static_cast<std::byte*>(memory), memory ? bytes : 0});
  });
}

enginery_status enginery_context_destroy(enginery_context* context) {
  return outcome_of([&]() -> Failure {
    if (!context) return {};
    const ContextUse use(context);
    if (!use) return use.failure();
    // Another thread may have destroyed it after this one found it.
    return ContextHandles::table().remove(context) ? Failure() : ContextUse(context).failure();
  });
}

enginery_status enginery_context_set_input(enginery_context* context, const char* name,
                                           const void* data, size_t bytes) {
  return set_tensor(context, Role::input, name, data, bytes, ENGINERY_MEMORY_HOST);
}

enginery_status enginery_context_set_output(enginery_context* context, const char* name, void* data,
                                            size_t bytes) {
  return set_tensor(context, Role::output, name, data, bytes, ENGINERY_MEMORY_HOST);
}

enginery_status enginery_context_set_input_in(enginery_context* context, const char* name,
                                              const void* data, size_t bytes,
                                              enginery_memory memory) {
  return set_tensor(context, Role::input, name, data, bytes, memory);
}

enginery_status enginery_context_set_output_in(enginery_context* context, const char* name,
                                               void* data, size_t bytes, enginery_memory memory) {
  return set_tensor(context, Role::output, name, data, bytes, memory);
}

enginery_status enginery_context_run(enginery_context* context) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    if (!use) return use.failure();
    return run_once(*use, [](ExecutionContext& own, const auto& inputs, const auto& outputs) {
      return own.run_in(inputs, outputs);
    });
  });
}

enginery_status enginery_context_enqueue(enginery_context* context, void* stream) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    if (!use) return use.failure();
    return run_once(*use, [stream](ExecutionContext& own, const auto& inputs, const auto& outputs) {
      return own.enqueue(inputs, outputs, stream);
    });
  });
}

enginery_status enginery_context_get_output_dims(enginery_context* context, const char* name,
                                                 int64_t* dims, int32_t rank) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    return use ? output_dims(*use, name, dims, rank) : use.failure();
  });
}

enginery_status enginery_context_profile(enginery_context* context, int32_t rounds,
                                         enginery_profile_fn report, void* user) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    return use ? profile_layers(*use, rounds, report, user) : use.failure();
  });
}
