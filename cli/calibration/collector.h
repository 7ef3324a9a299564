// The collecting of a calibration: a model's histograms over a user's data, in this process or in
// one of its own.
//
// Where: `calibrate` collects in its own process. oneDNN runs under one instruction-set cap in each
// process, and collecting takes the machine's: a build, which opens its target with that one's cap,
// collects in a child, the hidden verb `collector`. Threads: free functions without state.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/farm/packed_model.h"
#include "schemas/values.h"
#include "tuner/collect/calibration_data.h"
#include "tuner/collect/collect.h"

namespace enginery {

// What a model is calibrated on, in a user's words.
struct CalibrationWords {
  std::vector<std::string> data;      // "[NAME=]PATH"
  std::string preprocess;             // a file; "": pictures fit as they are
  std::optional<int64_t> rows, seed;  // at most; which ones
  std::optional<int64_t> threads;
  std::string option = "--data";  // what messages call `data`
  bool with_channels = false;     // for the correction of biases
};

// Which ones, where the words do not say.
uint64_t seed_of(const CalibrationWords& words);

// What was seen of the data; empty where nothing ran.
struct DataReport {
  int64_t available = 0, chosen = 0;
  std::vector<SkippedRow> skipped;
  double seconds = 0;
};

// Who waits for it.
struct CollectWatch {
  std::function<void(const Progress&)> progress;
  std::function<bool()> cancelled;
};

// Runs the graph, as imported, on the data. Errors: those of CalibrationData, read_preprocess and
// collect.
Result<HistogramSet> collect_here(const Graph& imported, const CalibrationWords& words,
                                  DataReport& report, const CollectWatch& watch);

// The same in a child process, which reads the model itself. `options`: of the model's shapes and
// limits. Errors: as above, those of load_model; internal (the child died).
Result<HistogramSet> collect_apart(const PackedModel& model, const BuildOptions& options,
                                   const CalibrationWords& words, DataReport& report,
                                   const CollectWatch& watch);

// The child: reads the request that collect_apart wrote, and reports the end. False where nobody
// hears it.
bool serve_collector(const CalibrationWords& words);

}  // namespace enginery
