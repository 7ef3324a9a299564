// What stands behind an enginery_engine and an enginery_context, and how a call gets at it.
//
// Where: between handles.h and the functions of enginery.h. Threads: an EngineObject never changes;
// a ContextObject is used by whoever has its ContextUse.
#pragma once

#include <atomic>
#include <optional>

#include "engine/c_api/handles.h"
#include "engine/c_api/outcome.h"
#include "enginery/engine.h"

namespace enginery {

struct EngineObject {
  std::shared_ptr<const void> mapped_file;  // that the engine reads its weights from; or null
  Engine engine;
};

// A tensor's memory as the caller has set it.
struct Binding {
  TensorInfo tensor;
  bool is_set = false;
};

struct ContextObject {
  ContextObject(const EngineObject& of, ExecutionContext own);

  std::shared_ptr<const void> mapped_file;  // ends after the context
  std::vector<LayerInfo> layers;
  ExecutionContext context;
  std::vector<Binding> inputs, outputs;
  std::vector<TensorMemory> input_data;   // parallel to inputs
  std::vector<TensorMemory> output_data;  // parallel to outputs
  std::atomic<bool> busy = false;
  bool has_run = false;
};

using EngineHandles = Handles<enginery_engine, EngineObject>;
using ContextHandles = Handles<enginery_context, ContextObject>;

// An error with the C interface's own codes where there is no object.
struct FoundEngine {
  std::shared_ptr<EngineObject> engine;
  Failure failure;
};
FoundEngine find_engine(const enginery_engine* handle);

// One thread's use of a context, until it ends. Without one: HANDLE or BUSY.
class ContextUse {
 public:
  explicit ContextUse(const enginery_context* handle);
  ~ContextUse();
  ContextUse(const ContextUse&) = delete;
  ContextUse& operator=(const ContextUse&) = delete;
  explicit operator bool() const { return object_ != nullptr; }
  const Failure& failure() const { return failure_; }
  ContextObject& operator*() const { return *object_; }
  ContextObject* operator->() const { return object_.get(); }

 private:
  std::shared_ptr<ContextObject> object_;
  Failure failure_;
};

Failure invalid_call(std::string message);

}  // namespace enginery
