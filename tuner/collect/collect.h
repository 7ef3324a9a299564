// collect: the histograms of a model's values over data: calibration up to the choice of scales.
//
// Where: `calibrate` on the command line; a step of a farm's job. Free function without state.
#pragma once

#include <functional>
#include <set>

#include "engine/graph/graph.h"
#include "tuner/calibrate/histogram_set.h"
#include "tuner/collect/batches.h"
#include "tuner/collect/watched_model.h"

namespace enginery {

struct CollectOptions {
  WatchOptions watch;
  // Sums of channels, too, of what convolutions and Gemms read: for the correction of biases.
  bool with_channels = false;
  // After each batch: rows done and wanted, 0 where nobody knows.
  std::function<void(int64_t done, int64_t total)> progress = [](int64_t, int64_t) {};
  std::function<bool()> cancelled = [] { return false; };
};

// The inputs of a specialised graph, as CalibrationData wants them.
std::vector<InputDescription> input_descriptions(const Graph& graph);

// The names of what convolutions and Gemms read, whose dimension 1 counts channels: with_channels
// keeps the means of these.
std::set<std::string> read_by_channel(const Graph& graph);

// Runs the graph on all the data. The set has each floating-point value that is computed at run
// time, and the inputs; its model is the graph's fingerprint. Of a last batch that is not full only
// the rows that hold data count. Errors: those of WatchedModel and of the batches;
// invalid_argument (a NaN or an infinity: in which tensor, of which layer); cancelled.
Result<HistogramSet> collect(const Graph& imported, CalibrationBatches& data,
                             const CollectOptions& options = {});

}  // namespace enginery
