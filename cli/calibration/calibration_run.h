// A calibration with progress on a terminal: the histograms of a model over a user's data, or those
// that the catalog has of the same.
//
// Where: `calibrate`, and `build --calib-data` before it builds. Threads: free functions without
// state.
#pragma once

#include <memory>

#include "cache/catalog.h"
#include "cli/calibration/collector.h"
#include "cli/options/build_flags.h"
#include "cli/output/console.h"

namespace enginery {

// collect_here with progress. Prints which rows were taken and left out. Errors: of collect_here;
// cancelled by Ctrl-C.
Result<HistogramSet> collect_histograms(const Graph& imported, const CalibrationWords& words,
                                        DataReport& report, Console& console);

// What decides which histograms come out: the model, its shapes, who reads it, the data, by what
// they hold, and whether means of channels are among them. Errors: not_found, storage (data that
// cannot be read); those of read_preprocess.
Result<ActionKey> calibration_key(const Digest& model, const BuildOptions& options,
                                  const CalibrationWords& words);

struct CalibratedData {
  std::shared_ptr<const Bytes> histograms;  // encoded
  std::vector<NamedText> made_from;         // the fields of their key that say on what
};

// The histograms of the model over --calib-data: the catalog's under that key, or collected and
// kept there. `options` then name them, with the calibrator. Errors: as above, those of load_model
// and of the catalog; usage (no such calibrator).
Result<CalibratedData> calibrate_through(Catalog& catalog, const PackedModel& model,
                                         const BuildFlags& flags, BuildOptions& options,
                                         Console& console);

}  // namespace enginery
