// A build on this machine: the farm's steps in one process (but for measuring on a GPU, which a
// faulting tactic may end), each answered by the local catalog where it can be.
//
// Where: `enginery build`. The keys are the farm's, so a coordinator over the same folder finds
// what a local build made, and the other way round. A process has one CPU instruction-set cap:
// build for one CPU SKU in each process. Threads: one build at a time.
#pragma once

#include <chrono>
#include <filesystem>

#include "cache/catalog.h"
#include "worker/runner/runner_attempts.h"
#include "worker/steps/steps.h"

namespace enginery {

struct LocalBuildRequest {
  std::filesystem::path model;
  std::string name;  // of the engine; "" means the model file's name without extension
  std::string sku;
  BuildOptions options;  // threads 0: every allowed core; `provisional`: untuned, for a device that
                         // is not here
  bool rebuild = false;  // do not read finished results
  // Where timings come from and go: "" the catalog, "none" nowhere, else a JSON file. Anything but
  // "" tunes and builds anew.
  std::string timing_cache;
  bool error_on_miss = false;  // not_found instead of measuring
  std::vector<std::string>
      runner;  // program and arguments (runner.h) that measures; empty: this process does
  std::chrono::milliseconds longest_trial = kMaxTrial;  // of a tactic in a runner
  std::filesystem::path
      keys;  // folder of signing.key, made when missing; empty: data_folder()/keys
};

struct LocalBuildReport {
  std::string name, sku, precision;
  Digest engine;  // a blob of the catalog: the signed file
  Digest content_digest, model, key;
  uint64_t size_bytes = 0;
  double latency_ms = 0;          // 0: not measured (provisional)
  Source source = Source::built;  // or cache
  bool provisional = false;
  uint64_t timings_measured = 0, timings_reused = 0;
  std::vector<std::pair<std::string, double>>
      phases;  // what was done, in seconds: "tune", "assemble", ...; then parts of "tune"
  std::vector<std::string> notes;  // for the user: "data: N = 1"
  double error = 0, bar = 0;       // against the reference, and what is allowed
  std::string verify_skipped;      // why it was not compared, else ""
};

// Builds, signs, registers the engine under its name. Errors: the model's (invalid_argument,
// unsupported, not_found), the device's (not_found, incompatible, unavailable), storage, cancelled,
// internal (wrong results).
Result<LocalBuildReport> build_local(Catalog& catalog, const LocalBuildRequest& request,
                                     const StepHooks& hooks = {});

}  // namespace enginery
