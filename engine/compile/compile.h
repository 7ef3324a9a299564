// Compile: from a model to an engine's content in three steps that can run on different machines at
// different times.
//
//   load_model   model bytes -> optimised graph          needs no device; validates
//   choose       graph -> choices                        with the tuner on the device, or the
//   analytic model without assemble     graph + choices -> content bytes        the engine file up
//   to provenance; the same for the same choices
//
// and what follows: verify (against the reference) and profile (times). Used by the command line's
// `build` and by workers.
#pragma once

#include <functional>

#include "engine/compile/choices.h"
#include "engine/format/engine_file.h"
#include "engine/import/importer.h"
#include "engine/options/options.h"
#include "engine/options/toolchain.h"
#include "engine/passes/pass.h"

namespace enginery {

// A model read, specialised and optimised.
struct LoadedModel {
  std::string name;
  Digest model_digest;      // of the model's bytes
  Digest structure_digest;  // of what tactics depend on; equal for two trainings of one network
  Graph graph;
  std::vector<std::string> notes;  // for the user: "data: N = 1"
};

Result<LoadedModel> load_model(const ModelSource& source, const std::string& name,
                               const BuildOptions& options, const PassOptions& passes = {});

// A device with its tactic sources, opened for one SKU.
struct Target {
  std::unique_ptr<Device> device;
  TacticSources sources;
};
Result<Target> open_target(const std::string& sku, const BuildOptions& options);

Result<Network> lower_model(const LoadedModel& model, const Target& target,
                            const BuildOptions& options);

// The engine file's sections up to provenance. `device code` is compiled here where tactics have
// any.
Result<Bytes> assemble(const LoadedModel& model, const Network& network,
                       const Assignment& assignment, const Target& target,
                       const BuildOptions& options);

// How an engine's outputs compare with the reference, in float32, on the same seeded random input.
struct Accuracy {
  double worst_error = 0;  // relative_error, over the outputs
  double bar = 0;          // what it may be for the precisions allowed
  std::string
      skipped;  // why nothing was compared (too large a network for the reference), else empty
};
Result<Accuracy> verify_content(const LoadedModel& model, std::shared_ptr<const Bytes> content,
                                const Target& target, const BuildOptions& options);
double accuracy_bar(const std::set<Precision>& precisions, DeviceKind kind);

struct Profile {
  double median_us = 0;         // host buffers in, host buffers out
  double device_median_us = 0;  // the launches alone
  std::vector<double> step_us;
};
Result<Profile> profile_content(std::shared_ptr<const Bytes> content, const Target& target);

}  // namespace enginery
