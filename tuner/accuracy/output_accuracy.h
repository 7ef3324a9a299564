// OutputAccuracy: how near one output is to the same output of the float model, summed over rows.
//
// Where: held_out_check adds batch after batch; the build says the figures. A value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace enginery {

struct OutputAccuracy {
  std::string name;
  int64_t rows = 0;
  // Rows whose first class is the float model's; nothing for an output that is no row of classes.
  std::optional<int64_t> agreeing;
  double signal = 0, noise = 0;  // sums of squares: of the float output, of the difference
  // Rows whose first class is their label's: here, and in float. Nothing where there are no labels.
  std::optional<int64_t> right = {}, right_in_float = {};

  // The first `valid_rows` of a batch; all elements where the first dimension is no batch. `labels`
  // has the class of each of these rows, or is empty. Requires two floating tensors of the same
  // dims.
  void add(const Tensor& expected, const Tensor& given, int64_t batch_rows, int64_t valid_rows,
           std::span<const int64_t> labels = {});

  // Signal to noise in decibels, at most kMostDecibels; that where nothing differs.
  double sqnr_db() const;
  // 0 to 100. With labels what top-1 loses beside float, 0 where it gains; else rows of another
  // first class, of all, which bounds that, whatever the labels are. Of an output without classes
  // the noise's share of the magnitude: sqrt(noise / signal).
  double drop_percent() const;
  double percent(int64_t count) const;  // of the rows
};

inline constexpr double kMostDecibels = 200;

// The figures of a model: those of its worst output count.
struct AccuracyFigures {
  std::vector<OutputAccuracy> outputs;

  int64_t rows() const;
  double sqnr_db() const;
  // Of the outputs with classes, or of all where none has any.
  double drop_percent() const;
  // Of the outputs with classes; nothing where none has any.
  std::optional<double> agreement_percent() const;
  // The output with labels that loses most; null where there are no labels.
  const OutputAccuracy* labelled() const;
};

// "output 'prob': 389 of 400 rows have the first class of the float model, 23.4 dB; top-1 60.50 %,
// in float 59.75 %".
std::string to_text(const OutputAccuracy& output);

}  // namespace enginery
