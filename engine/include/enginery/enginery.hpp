// The C++ face of libenginery: objects that clean up after themselves over enginery.h, C++17, in
// this header alone.
//
//   enginery::Engine engine("resnet50.engine");
//   enginery::Context context(engine);
//   std::vector<float> pixels(3 * 224 * 224), scores(1000);
//   context.set_input("input", pixels);
//   context.set_output("output", scores);
//   context.run();
//
// Errors are exceptions of the class Error, with the code of enginery.h. Threads: as in enginery.h.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "enginery/enginery.h"

namespace enginery {
// Apart from the names inside of the libraries.
inline namespace face {

class Error : public std::runtime_error {
 public:
  Error(enginery_status status, const char* message)
      : std::runtime_error(message), status_(status) {}
  enginery_status status() const { return status_; }  // ENGINERY_ERROR_...

 private:
  enginery_status status_;
};

// Throws where a call of enginery.h failed.
inline void check(enginery_status status) {
  if (status != ENGINERY_OK) throw Error(status, enginery_last_error());
}

// An input or output: dense, row-major.
struct Tensor {
  std::string name;
  std::vector<int64_t> dims;
  enginery_type type = ENGINERY_FLOAT32;
  bool is_input = false;
  size_t bytes = 0;
  int32_t run_time_sizes = 0;  // how many of `dims` runs tell (Context::output_dims)
  size_t elements() const { return bytes / enginery_type_bytes(type); }
};

// enginery_load_options with its size set.
struct LoadOptions : enginery_load_options {
  LoadOptions() : enginery_load_options{} { struct_size = sizeof(enginery_load_options); }
};

// A loaded engine. Movable; shared by its contexts, which may outlive it.
class Engine {
 public:
  explicit Engine(const std::string& file, const LoadOptions& options = {}) {
    check(enginery_engine_load_file(file.c_str(), &options, &handle_));
  }
  // From a file's bytes; with borrow_memory they must stay (enginery_load_options).
  Engine(const void* data, size_t bytes, const LoadOptions& options = {}) {
    check(enginery_engine_load_memory(data, bytes, &options, &handle_));
  }
  Engine(Engine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Engine& operator=(Engine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Engine() { enginery_engine_destroy(handle_); }

  // Its texts live as long as the engine.
  enginery_engine_info info() const {
    enginery_engine_info out{};
    out.struct_size = sizeof out;
    check(enginery_engine_get_info(handle_, &out));
    return out;
  }
  // Inputs, then outputs, in the model's order.
  std::vector<Tensor> tensors() const {
    const enginery_engine_info all = info();
    std::vector<Tensor> out;
    for (int32_t i = 0; i < all.inputs + all.outputs; ++i) {
      enginery_tensor_info t{};
      t.struct_size = sizeof t;
      check(enginery_engine_get_tensor(handle_, i, &t));
      out.push_back(
          {t.name, {t.dims, t.dims + t.rank}, t.type, t.is_input != 0, t.bytes, t.run_time_sizes});
    }
    return out;
  }
  const enginery_engine* handle() const { return handle_; }

 private:
  enginery_engine* handle_ = nullptr;
};

// One thread's use of an engine. Movable.
class Context {
 public:
  explicit Context(const Engine& engine) {
    check(enginery_context_create(engine.handle(), &handle_));
  }
  // In memory of the caller's (enginery_context_create_in).
  Context(const Engine& engine, void* memory, size_t bytes) {
    check(enginery_context_create_in(engine.handle(), memory, bytes, &handle_));
  }
  Context(Context&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Context& operator=(Context&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Context() { enginery_context_destroy(handle_); }

  // The memory must stay until it is set again or the context ends.
  void set_input(const std::string& name, const void* data, size_t bytes) {
    check(enginery_context_set_input(handle_, name.c_str(), data, bytes));
  }
  void set_output(const std::string& name, void* data, size_t bytes) {
    check(enginery_context_set_output(handle_, name.c_str(), data, bytes));
  }
  template <typename T>
  void set_input(const std::string& name, const std::vector<T>& data) {
    set_input(name, data.data(), data.size() * sizeof(T));
  }
  template <typename T>
  void set_output(const std::string& name, std::vector<T>& data) {
    set_output(name, data.data(), data.size() * sizeof(T));
  }
  // In host memory or the device's (enginery_context_set_input_in).
  void set_input(const std::string& name, const void* data, size_t bytes, enginery_memory memory) {
    check(enginery_context_set_input_in(handle_, name.c_str(), data, bytes, memory));
  }
  void set_output(const std::string& name, void* data, size_t bytes, enginery_memory memory) {
    check(enginery_context_set_output_in(handle_, name.c_str(), data, bytes, memory));
  }
  void run() { check(enginery_context_run(handle_)); }
  // One run on a stream of the caller's, without waiting for it (enginery_context_enqueue).
  void enqueue(void* stream = nullptr) { check(enginery_context_enqueue(handle_, stream)); }
  // The sizes of an output as the last run made it (enginery_context_get_output_dims); `rank` is
  // the output's.
  std::vector<int64_t> output_dims(const std::string& name, size_t rank) {
    std::vector<int64_t> dims(rank);
    check(enginery_context_get_output_dims(handle_, name.c_str(), dims.data(),
                                           static_cast<int32_t>(rank)));
    return dims;
  }
  enginery_context* handle() const { return handle_; }

 private:
  enginery_context* handle_ = nullptr;
};

}  // namespace face
}  // namespace enginery
