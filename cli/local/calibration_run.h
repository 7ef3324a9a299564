// A calibration with progress on a terminal: the histograms of a model over a user's data, or those
// that the catalog has of the same.
//
// Where: `calibrate`, and `build --calib-data` before it builds. Threads: free functions without
// state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/catalog.h"
#include "cli/farm/packed_model.h"
#include "cli/options/build_flags.h"
#include "cli/output/console.h"
#include "tuner/collect/collect.h"

namespace enginery {

// What a model is calibrated on, in a user's words.
struct CalibrationWords {
  std::vector<std::string> data;      // "[NAME=]PATH"
  std::string preprocess;             // a file; "": pictures fit as they are
  std::optional<int64_t> rows, seed;  // at most; which ones
  std::optional<int64_t> threads;
  std::string option = "--data";  // what messages call `data`
};

// What was seen of the data; empty where nothing ran.
struct DataReport {
  int64_t available = 0, chosen = 0;
  std::vector<SkippedRow> skipped;
  double seconds = 0;
};

// Runs the graph, as imported, on the data. Prints which rows were taken and left out. Errors:
// those of CalibrationData and collect; cancelled by Ctrl-C.
Result<HistogramSet> collect_histograms(const Graph& imported, const CalibrationWords& words,
                                        DataReport& report, Console& console);

// What decides which histograms come out: the model, its shapes, who reads it, and the data, by
// what they hold. Errors: not_found, storage (data that cannot be read); those of read_preprocess.
Result<ActionKey> calibration_key(const Digest& model, const BuildOptions& options,
                                  const CalibrationWords& words);

// The encoded histograms of the model over --calib-data: the catalog's under that key, or collected
// and kept there. `options` then name them, with the calibrator. Errors: as above, those of
// load_model and of the catalog; usage (no such calibrator).
Result<std::shared_ptr<const Bytes>> calibrate_through(Catalog& catalog, const PackedModel& model,
                                                       const BuildFlags& flags,
                                                       BuildOptions& options, Console& console);

}  // namespace enginery
