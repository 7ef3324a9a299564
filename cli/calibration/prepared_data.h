// The rows of --accuracy-data and, for a farm, of --calib-data: read, prepared and packed before
// anything is built.
//
// Where: `build` and `submit`, between their flags and the request. The rows travel as blobs, so
// the same data is sent once. Threads: free functions without state.
#pragma once

#include <memory>

#include "cli/farm/packed_model.h"
#include "cli/options/build_flags.h"

namespace enginery {

// The rows, encoded (tuner/accuracy/held_out_rows.h), with the classes of --accuracy-labels where
// it was given; null where --accuracy-data was not given. `options` then name them. A row that
// cannot be read is named and left out. Errors: those of CalibrationData, of read_preprocess and
// load_model; not_found, invalid_argument (labels that cannot be read, or that lack a row); usage
// (an untuned engine, which is not run).
Result<std::shared_ptr<const Bytes>> read_held_out(const PackedModel& model,
                                                   const BuildFlags& flags, bool provisional,
                                                   BuildOptions& options, Console& console);

// The rows of --calib-data for a farm that calibrates, likewise; null where it was not given.
// `options` then name them and the calibrator. Errors: as above.
Result<std::shared_ptr<const Bytes>> read_calib_data(const PackedModel& model,
                                                     const BuildFlags& flags, BuildOptions& options,
                                                     Console& console);

}  // namespace enginery
