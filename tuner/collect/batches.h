// CalibrationBatches: what a model is calibrated on, batch by batch, wherever it comes from.
//
// Where: collect() takes the batches; calibration_data.h has them from files, the builder's
// called_batches.h from a function of the caller's. A resource; one thread at a time.
#pragma once

#include <string>

#include "engine/data/input_set.h"

namespace enginery {

class CalibrationBatches {
 public:
  virtual ~CalibrationBatches() = default;
  // The next batch; no valid rows after the last one. Errors: the source's own.
  virtual Result<InputBatch> next() = 0;
  // How many rows a batch has, those that are not valid among them.
  virtual int64_t batch_rows() const = 0;
  // Rows so far, and in all; 0 in all where that is not known before the end.
  virtual int64_t done() const = 0;
  virtual int64_t chosen() const = 0;
  // What messages call a valid row of the batch that next() gave last.
  virtual std::string row_name(int64_t row) const = 0;
};

}  // namespace enginery
