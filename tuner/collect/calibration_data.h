// CalibrationData: the rows that a model is calibrated on, in batches; some of them, where fewer
// are wanted, and without those that cannot be read.
//
// Where: between the files that a user names and collect(). A resource; one thread at a time.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/collect/batches.h"

namespace enginery {

struct CalibrationRequest {
  std::vector<std::string> paths;  // "[NAME=]PATH" as for InputSet
  PreprocessTable preprocess;
  int64_t rows = 0;               // at most; 0: all
  uint64_t seed = 1;              // which ones, where there are more: the same for the same seed
  std::string option = "--data";  // what messages call the paths
};

struct SkippedRow {
  std::string label;
  std::string reason;
};

class CalibrationData final : public CalibrationBatches {
 public:
  // Errors: those of InputSet::open; invalid_argument (no
  // row at all).
  static Result<CalibrationData> open(const CalibrationRequest& request,
                                      const std::vector<InputDescription>& inputs);

  // All rows of tensors in memory; `label` is what messages call them. Errors: those of
  // InputSet::of; invalid_argument (no row at all).
  static Result<CalibrationData> of(const std::map<std::string, Tensor>& tensors,
                                    const std::vector<InputDescription>& inputs,
                                    const std::string& label);

  // The next batch; no valid rows after the last one. A row that cannot be read is left out.
  // Errors: invalid_argument, with the first reason, where that is more than one row in ten, or
  // all.
  Result<InputBatch> next() override;

  int64_t available() const { return inputs_.rows(); }
  int64_t chosen() const override { return static_cast<int64_t>(rows_.size()); }
  int64_t done() const override {
    return static_cast<int64_t>(at_);
  }  // of those chosen, skipped ones too
  int64_t batch_rows() const override { return inputs_.batch_rows(); }
  std::string row_name(int64_t row) const override {
    return given_[given_.size() - last_batch_ + static_cast<size_t>(row)];
  }
  const std::vector<SkippedRow>& skipped() const { return skipped_; }
  // What the rows given so far are called, in their order.
  const std::vector<std::string>& given() const { return given_; }

 private:
  CalibrationData(InputSet inputs, std::vector<int64_t> rows, std::string option)
      : inputs_(std::move(inputs)), rows_(std::move(rows)), option_(std::move(option)) {}
  Status skip(int64_t row, const Error& reason);

  InputSet inputs_;
  std::vector<int64_t> rows_;  // ascending
  std::string option_;
  size_t at_ = 0, last_batch_ = 0;  // the latter: its valid rows
  std::vector<SkippedRow> skipped_;
  std::vector<std::string> given_;
};

}  // namespace enginery
