// What 8 bits make of the tensors of a calibration: thresholds, what they clip, the noise of
// rounding; as a table and as plots of the histograms.
//
// Where: `inspect` of histograms, and of an engine with --calib. Threads: free functions without
// state.
#pragma once

#include <string>
#include <vector>

#include "cli/output/html_page.h"
#include "tuner/calibrate/calibrator.h"

namespace enginery {

// A tensor under a calibrator. Magnitudes are in the tensor's unit.
struct TensorRange {
  std::string name;
  const Histogram* histogram = nullptr;  // of the set
  double threshold = 0;                  // what becomes 127
  double clipped = 0;                    // the share of the elements beyond it
  // The signal to noise ratio of rounding to 8 bits and clipping, by the histogram; infinite where
  // nothing is lost.
  double sqnr_db = 0;
};

// In the order of the set, which must outlive them.
std::vector<TensorRange> tensor_ranges(const HistogramSet& set, const Calibrator& calibrator);

// A row for each, `columns` wide at most (0: as wide as they are).
std::string ranges_text(const std::vector<TensorRange>& ranges, int columns);

// A section of a page: the noisiest tensors as bars, then each tensor's histogram with its
// threshold.
void add_ranges(HtmlPage& page, const std::vector<TensorRange>& ranges,
                const Calibrator& calibrator);

// The page of a set alone.
std::string ranges_page(const HistogramSet& set, const Calibrator& calibrator,
                        const std::string& title);

}  // namespace enginery
