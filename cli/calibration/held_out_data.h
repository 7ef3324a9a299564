// The rows of --accuracy-data: read, prepared and packed before anything is built.
//
// Where: `build` and `submit`, between their flags and the request. Threads: a free function
// without state.
#pragma once

#include <memory>

#include "cli/farm/packed_model.h"
#include "cli/options/build_flags.h"

namespace enginery {

// The rows, encoded (tuner/accuracy/held_out_rows.h); null where --accuracy-data was not given.
// `options` then name them. A row that cannot be read is named and left out. Errors: those of
// CalibrationData, of read_preprocess and load_model; usage (an untuned engine, which is not run).
Result<std::shared_ptr<const Bytes>> read_held_out(const PackedModel& model,
                                                   const BuildFlags& flags, bool provisional,
                                                   BuildOptions& options, Console& console);

}  // namespace enginery
