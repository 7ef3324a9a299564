#include "engine/c_api/objects.h"

namespace enginery {
namespace {

std::vector<Binding> bindings_of(const std::vector<TensorInfo>& tensors) {
  std::vector<Binding> out;
  for (const TensorInfo& tensor : tensors) out.push_back({tensor});
  return out;
}

Failure no_handle(const char* kind) {
  return {ENGINERY_ERROR_HANDLE,
          std::string("the handle is not a live ") + kind + ": destroyed before, or never one"};
}

}  // namespace

ContextObject::ContextObject(const EngineObject& of, ExecutionContext own)
    : mapped_file(of.mapped_file),
      layers(of.engine.info().layers),
      context(std::move(own)),
      inputs(bindings_of(of.engine.info().inputs)),
      outputs(bindings_of(of.engine.info().outputs)),
      input_data(inputs.size()),
      output_data(outputs.size()) {}

FoundEngine find_engine(const enginery_engine* handle) {
  auto engine = EngineHandles::table().find(handle);
  if (!engine) return {nullptr, no_handle("engine")};
  return {std::move(engine), {}};
}

ContextUse::ContextUse(const enginery_context* handle)
    : object_(ContextHandles::table().find(handle)) {
  if (!object_) {
    failure_ = no_handle("context");
  } else if (object_->busy.exchange(true, std::memory_order_acquire)) {
    object_ = nullptr;
    failure_ = {ENGINERY_ERROR_BUSY, "another call is in this context: make one for each thread"};
  }
}

ContextUse::~ContextUse() {
  if (object_) object_->busy.store(false, std::memory_order_release);
}

Failure invalid_call(std::string message) {
  return {ENGINERY_ERROR_INVALID_ARGUMENT, std::move(message)};
}

}  // namespace enginery
