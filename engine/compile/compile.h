// Compile: from a model to an engine's content, in steps that can run on different machines at
// different times.
//
//   load_model       model bytes -> optimised graph              needs no device; validates
//   lower_model      graph -> network with the tactics offered   on the device (or a stand-in for
//   it) assemble         network + selection -> content bytes        the engine file up to
//   provenance;
//                                                                the same for the same selection
//   verify_content   against the reference
//   profile_content  latency, and the time of each step
//
// Between lower_model and assemble a tactic is selected for every node: by the tuner, by the
// analytic model, or from a record (selection_record.h). Used by the command line's `build` and by
// workers. Threads: free functions; a Target's device measures for one caller at a time.
#pragma once

#include <functional>

#include "engine/base/clock.h"
#include "engine/compile/quantize_products.h"
#include "engine/compile/selection_record.h"
#include "engine/format/engine_file.h"
#include "engine/import/importer.h"
#include "engine/options/options.h"
#include "engine/options/toolchain.h"
#include "engine/passes/pass.h"
#include "engine/runtime/program.h"

namespace enginery {

// A model read, specialised and optimised.
struct LoadedModel {
  std::string name;
  Digest model_digest;      // of the model's bytes
  Digest structure_digest;  // of what tactics depend on; equal for two trainings of one network
  // As imported and specialised, before any pass: what verify_content holds engines against. Shares
  // the constants that no pass has rewritten with `graph`.
  Graph imported;
  Graph graph;                     // after the passes
  std::vector<std::string> notes;  // for the user: "data: N = 1"
  NodePrecisions precisions = {};  // of nodes of `graph`
  // Nodes of `graph` that compute in fp32 whatever is allowed: a verification has shown that
  // float16 does not hold what they give or read.
  std::set<NodeId> beyond_float16 = {};
  // What each pass made of it, a line each, where PassOptions has no log of its own.
  std::vector<std::string> pass_log = {};
};

// With `scales`, of a calibration, a float model is quantised first, and then counts as imported
// so; layers of the names `in_float` stay as they are, and biases are corrected where `means` are
// known. Errors: those of import_model, specialize
// and quantize_products; usage (an unknown pass in skip_passes); not_found (a layer of
// layer_precisions); unsupported (int8 is allowed, and neither the model nor a calibration says
// scales); internal (a pass broke the graph).
Result<LoadedModel> load_model(const ModelSource& source, const std::string& name,
                               const BuildOptions& options, const PassOptions& passes = {},
                               const TensorScales* scales = nullptr,
                               const std::set<std::string>& in_float = {},
                               const ChannelMeans& means = {});

// A device with its tactic sources, opened for one SKU; they keep to the options' memory pools. The
// device outlives the sources.
struct Target {
  std::unique_ptr<Device> device;
  TacticSources sources;
};
// Errors: those of open_device; usage (an unknown source in without_sources).
Result<Target> open_target(const std::string& sku, const BuildOptions& options);

// Errors: those of lower.
Result<Network> lower_model(const LoadedModel& model, const Target& target,
                            const BuildOptions& options);

// The engine file's sections up to provenance. Compiles device code where tactics have any; `watch`
// is told of each. Errors: those of make_plan and TacticSource::compile, with the layer's name.
Result<Bytes> assemble(const LoadedModel& model, const Network& network,
                       const TacticSelection& selection, const Target& target,
                       const BuildOptions& options, const StepWatch& watch = {});

// Who wants to know what an engine does while it is tried: any of its tactics may end the process,
// or never come back.
struct EngineWatch {
  StepWatch steps = {};
  // Before a run of the whole engine, and after it: hundreds of times.
  std::function<void(bool over)> run = [](bool) {};
};

// What an engine is verified with.
struct VerificationOptions {
  // Parallel to the model's inputs; none: made up (made_up_inputs.h).
  std::vector<Tensor> inputs = {};
  // Told of every step: the engine runs step by step first.
  EngineWatch watch = {};
  // Above this some rows of the batch are compared, one at least: the reference computes a few
  // GFLOP a second.
  double max_reference_flops = 3e11;
};

// How an engine's outputs compare with the reference's on the same input.
struct Accuracy {
  double worst_error = 0;          // Comparison::error, over the outputs; infinite: shapes differ
  double bar = 0;                  // accuracy_bar of the precisions that its tactics use
  std::string wrong;               // what is wrong, and where it begins; "" for a right engine
  std::string skipped;             // why nothing was compared (made-up data that an operator
                                   // refuses); else ""
  std::vector<std::string> notes;  // for the user: what was not compared
  bool pass_at_fault = false;      // the model was wrong before any tactic ran
  // Of a wrong engine, where values overflow float16 (float16_overflow.h): the first such layer in
  // words, and the nodes of the model's graph that give or read such values; else empty.
  std::string overflow = {};
  std::set<NodeId> beyond_float16 = {};
  std::vector<Tensor> inputs;  // what it ran on
};
// Runs `content` and, operator by operator, the model as it was imported, so that an error of a
// pass shows as well as one of a kernel; compare_outputs.h says what counts as right. Errors:
// untrusted (damaged content), invalid_argument (given inputs that do not fit or that an operator
// refuses), those of preparing and running it; a wrong result is none.
Result<Accuracy> verify_content(const LoadedModel& model, std::shared_ptr<const Bytes> content,
                                const Target& target, const VerificationOptions& options = {});
// What the plan's tactics compute and store in.
std::set<Precision> precisions_of(const Plan& plan);
// What a right engine's outputs may differ by, relatively, for the least exact of the precisions.
double accuracy_bar(const std::set<Precision>& precisions, DeviceKind kind);

// Medians in microseconds.
struct Profile {
  double median_us = 0;         // host buffers in, host buffers out
  double device_median_us = 0;  // the launches alone
  std::vector<double> step_us;  // parallel to Plan::steps; 0 for views
  std::string skipped;          // why nothing was measured (VerificationOptions); else ""
};
// `clock` times the runs and ends them: they stop when enough were made or the time is up. Errors:
// untrusted, unsupported (the device cannot measure), those of preparing and running.
// Watched one by one it first runs step by step, about as often as it is then timed.
Result<Profile> profile_content(std::shared_ptr<const Bytes> content, const Target& target,
                                const Clock& clock = SystemClock(), const EngineWatch& watch = {});

}  // namespace enginery
