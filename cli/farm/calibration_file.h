// The file that --calib names, read and checked before anything is built.
//
// Where: `build` and `submit`, between their flags and the request. Threads: a free function
// without state.
#pragma once

#include <memory>

#include "cli/options/build_flags.h"
#include "engine/base/digest.h"

namespace enginery {

// The file's bytes; null where --calib was not given. `options` then name it, with the calibrator
// where it holds histograms. Errors: not_found, storage; invalid_argument (neither a table nor
// histograms); usage (no such calibrator, or one beside a table).
Result<std::shared_ptr<const Bytes>> read_calibration_file(const BuildFlags& flags,
                                                           BuildOptions& options);

}  // namespace enginery
