// An engine held against the model in float on held-out rows, before it may be signed.
//
// Where: the step that makes what is signed, in builds with --accuracy-data. Free functions without
// state; the step holds the device's lock.
#pragma once

#include <optional>

#include "tuner/accuracy/output_accuracy.h"
#include "worker/steps/step_context.h"

namespace enginery {

// The engine's figures on the step's input `held_out`; nothing for a build without one. The model
// in float runs on a CPU. Errors: unsupported (the accuracy drop is larger than allowed, with the
// layers that are most sensitive where a calibration quantised the model; all of them are logged);
// those of HeldOutCheck, of a run; cancelled.
Result<std::optional<AccuracyFigures>> hold_against_float(
    const StepContext& step, const std::shared_ptr<const Bytes>& content);

// Adds what is known of the engine's accuracy: metrics sqnr_db, accuracy_rows, accuracy_drop,
// agreement where an output has classes, top1 and float_top1 where there are labels; the fact
// accuracy, a line for each output.
void leave_figures(const AccuracyFigures& figures, StepOutputs& out);
// The same for the engine's provenance, with the data's digest and the limit.
void add_figures(const AccuracyFigures& figures, const BuildOptions& options, Properties& facts);

}  // namespace enginery
