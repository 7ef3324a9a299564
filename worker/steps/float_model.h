// The float model of a build, and the CPU that it runs on, for the steps that look at values:
// calibrate, mix and the check before an engine is signed.
//
// Where: between these steps and tuner/collect. Free functions without state.
#pragma once

#include <string>

#include "tuner/accuracy/held_out_check.h"
#include "worker/steps/step_context.h"

namespace enginery {

// The model as it is, before any pass and without a calibration; one with quantisation of its own
// keeps it. Errors: those of load_model.
Result<LoadedModel> load_in_float(const BuildSessionSpec& spec);

// The target's own type where it is a CPU, since a process has one instruction-set cap; else
// calibration_sku().
WatchOptions float_device(const StepContext& step);

// Tells the step's hooks of a phase, with what is left of it by the rows so far. Ends it with
// `cancelled` where they say so.
RowProgress progress_of(const StepContext& step, const std::string& phase);

}  // namespace enginery
