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

#include <functional>
#include <string>
#include <utility>

#include "enginery/network.hpp"

namespace enginery {
inline namespace face {

// How to build; build.h says what each means.
struct BuildConfig {
  std::string name, precisions, shapes, without_sources, limits, timing_cache, catalog, keys,
      command, layer_precisions;
  int level = 3, threads = 0, aux_streams = -1;
  bool rebuild = false, provisional = false;
  std::function<void(const std::string& phase, uint64_t done, uint64_t total)> progress;
  std::function<bool()> cancelled;  // true ends the build with CANCELLED
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
    check_build(build(&options, out));
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
