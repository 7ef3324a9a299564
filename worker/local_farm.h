// A farm of one: a whole build on this machine, in this process.
//
// Where: `enginery build`. It drives the coordinator's core over the local catalog and a queue in
// memory, and is its one worker: the chain, the keys, what counts as a deterministic failure and
// what answers from the catalog are the farm's. So a coordinator over the same folder finds what a
// local build made, and the other way round. Only the rest differs: nothing is retried, because
// there is no other worker; tactics run in runner processes all the same. A process
// has one CPU instruction-set cap: build for one CPU SKU in each process. Threads: one build at a
// time; the hooks are called on the caller's thread.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cache/catalog.h"
#include "worker/runner/runner_attempts.h"
#include "worker/steps/step_functions.h"

namespace enginery {

struct LocalBuildRequest {
  std::filesystem::path model;
  // The model's bytes, packed; then `model` is what messages call it. Null: they are read from it.
  std::shared_ptr<const Bytes> model_bytes;
  // What options.calibration names; null where it names none.
  std::shared_ptr<const Bytes> calibration;
  // What it was made from, for the provenance: data, preprocess, rows, seed; {} where not known.
  std::vector<NamedText> calibrated_on;
  std::shared_ptr<const Bytes> held_out;  // what options.held_out names, likewise
  std::string name;  // of the engine; "" means the model file's name without extension
  std::string sku;
  BuildOptions options;  // threads 0: every allowed core; `provisional`: untuned, for a device that
                         // is not here
  bool rebuild = false;  // do not read finished results
  // Where timings come from and go: "" the catalog, "none" nowhere, else a JSON file. Anything but
  // "" tunes again and reads no result that depends on timings.
  std::string timing_cache;
  bool error_on_miss = false;  // not_found instead of measuring
  // What to verify on instead of made-up inputs: called once with the model as imported, gives one
  // tensor for each of its inputs. With it the engine is verified even if the catalog has it.
  std::function<Result<std::vector<Tensor>>(const Graph& model)> verify_inputs;
  // Program and arguments (runner.h) of the process in which tactics run; empty: this one.
  std::vector<std::string> runner;
  std::chrono::milliseconds max_trial = kMaxTrial;  // of a tactic in a runner
  SandboxMode sandbox = SandboxMode::off;           // of the runners
  std::filesystem::path
      keys;  // folder of signing.key, made when missing; empty: data_folder()/keys
  OpenTarget open = open_target;  // in this process; tests add tactic sources of their own
  // The chain and what runs it; tests add a step.
  StepTable steps = enginery::steps();
  StepFunctions functions = step_functions();
};

struct LocalBuildReport {
  std::string name, sku, precision;
  Digest engine;  // a blob of the catalog: the signed file
  Digest content_digest, model, key;
  uint64_t size_bytes = 0;
  double latency_ms = 0;          // 0: not measured (provisional)
  double foreign_load = 0;        // share of the device that others used while it was, 0..1
  Source source = Source::built;  // or cache
  bool provisional = false;
  uint64_t timings_measured = 0, timings_reused = 0;
  std::vector<std::pair<std::string, double>>
      phases;  // what was done, in seconds: "tune", "assemble", ...; then parts of "tune"
  std::vector<std::string> notes;  // for the user: "data: N = 1"
  double error = 0, bar = 0;       // relative, against the reference, and what is allowed
  std::string verify_skipped;      // why it was not compared, else ""
  std::optional<HeldOutFigures> accuracy;
  std::string calibration;       // both as in TargetView
  bool bias_correction = false;  // whether the calibration has means to correct biases by
};

// Builds, signs and registers the engine under its name; or finds that it was built. Errors: the
// model's (invalid_argument, unsupported, not_found), the device's (not_found, incompatible,
// unavailable), storage, cancelled, internal (wrong results). A deterministic one is kept as the
// answer: the next build with the same keys meets it at once.
Result<LocalBuildReport> build_local(Catalog& catalog, const LocalBuildRequest& request,
                                     const StepHooks& hooks = {});

}  // namespace enginery
