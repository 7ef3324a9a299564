// INT8's scales as a caller of the build library gives them: a file, data, or functions.
//
// Where: between enginery_build_options and a local build, once the model is known. A free function
// without state.
#pragma once

#include "enginery/build.h"
#include "worker/local_farm.h"

namespace enginery {

// Makes the request's calibration, where the options ask for one: `request.calibration` and the
// options that name it, and the model's bytes where it had to be read. Errors: usage (two sources,
// a source without int8, a calibrator's name without one, no such calibrator, a correction of
// biases without data); invalid_argument (a calibrator without function, data that do not fit, a
// NaN in a tensor, which is named); not_found, storage; those of load_model; cancelled.
Status calibrate(const enginery_build_options& from, const StepHooks& hooks,
                 LocalBuildRequest& request);

}  // namespace enginery
