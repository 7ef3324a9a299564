// Calibrators: from a tensor's histogram to the scale of its symmetric INT8 form.
//
// Where: between a HistogramSet and a CalibrationTable; the algorithm is applied when a table is
// made, without the data. One row in make_calibrators() is one calibrator; the conformance suite
// runs over all of them. Values without state, usable from many threads.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tuner/calibrate/histogram_set.h"

namespace enginery {

// INT8 activations are in [-127, 127] times the scale; -128 is not used.
inline constexpr int kInt8Levels = 127;

class Calibrator {
 public:
  virtual ~Calibrator() = default;
  virtual std::string_view name() const = 0;     // "entropy2", as `--calibrator` takes it
  virtual std::string_view summary() const = 0;  // a line for people
  // The algorithm's name in the first line of a TensorRT table: "EntropyCalibration2".
  virtual std::string_view table_name() const = 0;
  // The magnitude that becomes 127, above 0 and at most the largest one; in the tensor's unit.
  // `histogram` holds at least two different values.
  virtual double threshold(const Histogram& histogram) const = 0;
};

// The default first.
std::vector<std::unique_ptr<Calibrator>> make_calibrators();
// Errors: usage, with the names that there are.
Result<std::unique_ptr<Calibrator>> find_calibrator(std::string_view name);

// A tensor's scale: what one step of INT8 stands for, above 0. Where all elements are the same it
// is their magnitude / 127, whatever the calibrator; where all are zero (or none was seen) it is 1,
// since then every scale is exact.
float scale_of(const Histogram& histogram, const Calibrator& calibrator);

// Which tensors held one value everywhere, and what their scales are by that rule, for the user;
// "": none did.
std::string constant_tensors_note(const HistogramSet& set);

// The mean over the elements of (x - q(x))^2, with q rounding to `scale` and saturating at 127.
// Elements count as the middles of their bins.
double squared_error(const Histogram& histogram, double scale);

}  // namespace enginery
