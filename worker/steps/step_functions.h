// What runs a step: one function for each row of the table in pipeline/step.h, each in the file of
// its name.
//
// Where: the runner calls run_step for the farm, the local farm (`enginery build`) for a build on
// this machine. A new step is a row there, and a function and its row here. What the steps leave is
// described in worker/README.md. Steps that compute on the device hold its DeviceLock: one
// measurement at a time on one piece of hardware. Threads: one thread a session.
#pragma once

#include <span>
#include <string>

#include "pipeline/step.h"
#include "worker/steps/step_context.h"

namespace enginery {

// Runs the float model on the rows `calib_data`. Blob: calibration (histograms); fact: calibration
// (its digest); metric: calibration_rows. invalid_argument: rows of another model, a NaN or an
// infinity (in which layer).
Result<StepOutputs> calibrate_step(const StepContext& step);

// Chooses which layers of a calibrated model stay in float, on the rows `held_out`. Blob:
// float_layers; metrics: float_layers, int8_layers. unsupported: with none in int8 alone it is
// within the limit.
Result<StepOutputs> mix_step(const StepContext& step);

// Imports and optimises the model. Facts: structure, notes; metrics: layers. invalid_argument,
// unsupported: the model.
Result<StepOutputs> validate_step(const StepContext& step);

// Chooses tactics; an assistant (TuneSettings) measures only and leaves no blob. Blob: choices;
// metrics: timings_measured, timings_reused, problems, tuning_s and its parts. cancelled, timed_out
// (the device stays busy), not_found (the store gives no permission to measure), device_lost
// (tuner.h: a new process goes on).
Result<StepOutputs> tune_step(const StepContext& step);

// Follows the choices. Blob: content; fact: content_digest. A provisional build needs no choices
// and leaves `unsigned` as well. incompatible: choices of another network.
Result<StepOutputs> assemble_step(const StepContext& step);

// Compares the content's outputs with the reference's, on the context's inputs or made-up ones.
// Metrics: error, bar; facts: verify_skipped where it was not possible, verify_notes (lines). A
// wrong output: `rejected`.
Result<StepOutputs> verify_step(const StepContext& step);

// Times the content; with held-out rows it is held against the float model first (float_check.h).
// Blob: unsigned (content and provenance); metrics: latency_ms, device_latency_ms, those of
// float_check. unsupported: the accuracy drop is larger than allowed.
Result<StepOutputs> profile_step(const StepContext& step);

struct StepFunction {
  StepKind kind;
  Result<StepOutputs> (*run)(const StepContext& step);
};
using StepFunctions = std::span<const StepFunction>;

// The product's functions. The step that needs the signing key has none: its holder runs it
// (pipeline/signature.h).
StepFunctions step_functions();

// Runs the step of that name. unsupported: the table or the functions do not have it; else the
// step's own errors.
Result<StepOutputs> run_step(const std::string& name, const StepContext& step,
                             StepFunctions functions = step_functions(), StepTable table = steps());

}  // namespace enginery
