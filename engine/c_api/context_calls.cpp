// Contexts of the C interface: bind tensors by name, run, profile.
#include "engine/c_api/objects.h"

namespace enginery {
namespace {

std::string names_of(const std::vector<Binding>& bindings) {
  std::string text;
  for (const Binding& b : bindings) text += (text.empty() ? "'" : ", '") + b.tensor.name + "'";
  return text.empty() ? "none" : text;
}

// One of the inputs or outputs, and what it is to be set to.
template <typename Pointer>
Failure bind_tensor(const char* role, std::vector<Binding>& bindings, std::vector<Pointer>& data,
                    const char* name, Pointer to, size_t bytes) {
  if (!name) return invalid_call(std::string("the name of the ") + role + " is null");
  for (size_t i = 0; i < bindings.size(); ++i) {
    const TensorInfo& tensor = bindings[i].tensor;
    if (tensor.name != name) continue;
    const auto wrong = [&](const std::string& reason) {
      return invalid_call(std::string(role) + " '" + tensor.name + "': " + reason);
    };
    const auto expected = static_cast<size_t>(bytes_of(tensor.type));
    if (bytes != expected)
      return wrong("expected " + std::to_string(expected) + " bytes for " + to_string(tensor.type) +
                   ", got " + std::to_string(bytes));
    if (!to && expected > 0) return wrong("its memory is null");
    const auto alignment = static_cast<uintptr_t>(element_bytes(tensor.type.type));
    if (reinterpret_cast<uintptr_t>(to) % alignment != 0)
      return wrong("its memory is not aligned to the " + std::to_string(alignment) +
                   " bytes of its elements");
    data[i] = to;
    bindings[i].is_set = true;
    return {};
  }
  return invalid_call(std::string("no ") + role + " '" + name +
                      "'; there are: " + names_of(bindings));
}

Failure require_set(const char* role, const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    if (!b.is_set)
      return {ENGINERY_ERROR_NOT_SET,
              std::string(role) + " '" + b.tensor.name + "' has not been set"};
  }
  return {};
}

bool overlap(const void* a, const TensorInfo& of_a, const void* b, const TensorInfo& of_b) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
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

Failure run_once(ContextObject& context) {
  for (const Failure& failure : {require_set("input", context.inputs),
                                 require_set("output", context.outputs), require_apart(context)}) {
    if (failure.status() != ENGINERY_OK) return failure;
  }
  const Status ran = context.context.run(context.input_data, context.output_data);
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
    ContextHandles::table().remove(context);
    return {};
  });
}

enginery_status enginery_context_set_input(enginery_context* context, const char* name,
                                           const void* data, size_t bytes) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    if (!use) return use.failure();
    return bind_tensor("input", use->inputs, use->input_data, name, data, bytes);
  });
}

enginery_status enginery_context_set_output(enginery_context* context, const char* name, void* data,
                                            size_t bytes) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    if (!use) return use.failure();
    return bind_tensor("output", use->outputs, use->output_data, name, data, bytes);
  });
}

enginery_status enginery_context_run(enginery_context* context) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    return use ? run_once(*use) : use.failure();
  });
}

enginery_status enginery_context_profile(enginery_context* context, int32_t rounds,
                                         enginery_profile_fn report, void* user) {
  return outcome_of([&]() -> Failure {
    const ContextUse use(context);
    return use ? profile_layers(*use, rounds, report, user) : use.failure();
  });
}
