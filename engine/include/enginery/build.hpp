// Builds in this process: the second half of the C++ face of libenginery-build, C++17, in this
// header and network.hpp alone.
//
//   enginery::BuildConfig config;
//   config.level = 2;
//   enginery::Builder builder(config);
//   const std::string bytes = builder.build_file("resnet50.onnx");
//   enginery::Engine engine(bytes.data(), bytes.size());
//
// Errors are exceptions of the class Error (enginery.hpp). Threads: one build at a time in a
// process.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "enginery/network.hpp"

namespace enginery {
inline namespace face {

// One input of a batch to calibrate on: what is asked for, and what get_batch sets.
struct CalibrationInput {
  std::string name;
  enginery_type type;
  Sizes dims;                  // of a whole batch
  size_t bytes = 0;            // of a whole batch; get_batch sets fewer for a last one
  const void* data = nullptr;  // set by get_batch: stays until the next call
};

// Where INT8's scales come from, in the shape of TensorRT's IInt8Calibrator; build.h says what each
// function means. What one throws ends the build and comes out of it.
class Calibrator {
 public:
  virtual ~Calibrator() = default;
  virtual int batch_size() const = 0;
  virtual bool get_batch(std::vector<CalibrationInput>& inputs) = 0;  // false: there are no more
  virtual std::string read_cache() { return {}; }                     // "": there is none
  virtual void write_cache(const std::string& /*cache*/) {}
};

// How to build; build.h says what each means.
struct BuildConfig {
  std::string name, precisions, shapes, without_sources, limits, timing_cache, catalog, keys,
      command, layer_precisions, calibration, calibration_preprocess, calibrator_name, memory_pools;
  std::vector<std::string> calibration_data;
  int64_t calibration_rows = 0;
  std::shared_ptr<Calibrator> calibrator;
  int level = 3, threads = 0, aux_streams = -1;
  bool rebuild = false, provisional = false;
  std::function<void(const std::string& phase, uint64_t done, uint64_t total)> progress;
  std::function<bool()> cancelled;  // true ends the build with CANCELLED
  bool bias_correction = false;
};

// Builds engines for a device of this machine: "this" is its best.
class Builder {
 public:
  explicit Builder(BuildConfig config = {}) : config_(std::move(config)) {}

  // The engine file's bytes, for Engine's constructor or a file.
  std::string build(const Network& network, const std::string& sku = "this") {
    return run(sku, [&](const enginery_build_options* options, std::string& out) {
      return enginery_build_network(network.handle(), options, Network::append_bytes, &out,
                                    &report_);
    });
  }
  // The same of a model file: ONNX, or a saved network.
  std::string build_file(const std::string& path, const std::string& sku = "this") {
    return run(sku, [&](const enginery_build_options* options, std::string& out) {
      return enginery_build_file(path.c_str(), options, Network::append_bytes, &out, &report_);
    });
  }
  // What became of the last build.
  const enginery_build_report& report() const { return report_; }

 private:
  // A calibrator behind C's functions, through which nothing is thrown.
  struct Calls {
    Calibrator* object;
    std::string cache;
    std::exception_ptr thrown;

    enginery_calibrator calibrator() {
      enginery_calibrator out{};
      out.struct_size = sizeof out;
      out.batch_size = object ? object->batch_size() : 0;
      out.get_batch = get_batch;
      out.read_cache = read_cache;
      out.write_cache = write_cache;
      out.user = this;
      return out;
    }
    template <typename Call>
    static int32_t kept(void* user, Call&& call) noexcept {
      Calls& calls = *static_cast<Calls*>(user);
      try {
        return call(calls);
      } catch (...) {
        calls.thrown = std::current_exception();
        return -1;
      }
    }
    static int32_t get_batch(void* user, const enginery_tensor_info* inputs, int32_t count,
                             const void** data, size_t* bytes) {
      return kept(user, [&](Calls& calls) -> int32_t {
        std::vector<CalibrationInput> asked;
        for (int32_t i = 0; i < count; ++i)
          asked.push_back({inputs[i].name, inputs[i].type,
                           Sizes(inputs[i].dims, inputs[i].dims + inputs[i].rank), inputs[i].bytes,
                           nullptr});
        if (!calls.object->get_batch(asked)) return 0;
        for (size_t i = 0; i < asked.size() && i < static_cast<size_t>(count); ++i) {
          data[i] = asked[i].data;
          bytes[i] = asked[i].bytes;
        }
        return 1;
      });
    }
    static int32_t read_cache(void* user, const void** data, size_t* bytes) {
      return kept(user, [&](Calls& calls) -> int32_t {
        calls.cache = calls.object->read_cache();
        *data = calls.cache.data();
        *bytes = calls.cache.size();
        return 0;
      });
    }
    static int32_t write_cache(void* user, const void* data, size_t bytes) {
      return kept(user, [&](Calls& calls) -> int32_t {
        calls.object->write_cache(std::string(static_cast<const char*>(data), bytes));
        return 0;
      });
    }
  };

  template <typename Build>
  std::string run(const std::string& sku, Build&& build) {
    enginery_build_options options{};
    options.struct_size = sizeof options;
    check_build(enginery_build_options_init(&options));
    const auto set = [](const char*& to, const std::string& text) {
      to = Network::text_or_null(text);
    };
    set(options.name, config_.name);
    set(options.sku, sku);
    set(options.precisions, config_.precisions);
    set(options.shapes, config_.shapes);
    set(options.without_sources, config_.without_sources);
    set(options.limits, config_.limits);
    set(options.timing_cache, config_.timing_cache);
    set(options.catalog, config_.catalog);
    set(options.keys, config_.keys);
    set(options.command, config_.command);
    set(options.layer_precisions, config_.layer_precisions);
    set(options.calibration, config_.calibration);
    set(options.calibration_preprocess, config_.calibration_preprocess);
    set(options.calibrator_name, config_.calibrator_name);
    set(options.memory_pools, config_.memory_pools);
    std::vector<const char*> data;
    for (const std::string& path : config_.calibration_data) data.push_back(path.c_str());
    options.calibration_data = data.data();
    options.calibration_data_count = static_cast<int32_t>(data.size());
    options.calibration_rows = config_.calibration_rows;
    options.bias_correction = config_.bias_correction;
    Calls calls{config_.calibrator.get(), {}, nullptr};
    const enginery_calibrator calibrator = calls.calibrator();
    if (config_.calibrator) options.calibrator = &calibrator;
    options.level = config_.level;
    options.threads = config_.threads;
    options.aux_streams = config_.aux_streams;
    options.rebuild = config_.rebuild;
    options.provisional = config_.provisional;
    options.user = &config_;
    if (config_.progress) options.progress = say_progress;
    if (config_.cancelled) options.cancelled = ask_cancelled;
    report_ = {};
    report_.struct_size = sizeof report_;
    std::string out;
    const enginery_status status = build(&options, out);
    if (calls.thrown) std::rethrow_exception(calls.thrown);
    check_build(status);
    return out;
  }
  static void say_progress(void* user, const char* phase, uint64_t done, uint64_t total) {
    static_cast<BuildConfig*>(user)->progress(phase, done, total);
  }
  static int32_t ask_cancelled(void* user) {
    return static_cast<BuildConfig*>(user)->cancelled() ? 1 : 0;
  }

  BuildConfig config_;
  enginery_build_report report_{};
};

}  // namespace face
}  // namespace enginery
