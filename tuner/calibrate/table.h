// CalibrationTable: the scales of a network's tensors as a text, in the layout that TensorRT 5 to
// 10 write and read. README.md has the grammar.
//
// Where: what `calibrate -o` writes; tables from elsewhere are read as they are. A value.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tuner/calibrate/calibrator.h"

namespace enginery {

struct CalibrationTable {
  int64_t version = 8601;  // TensorRT's: major * 1000 + minor * 100 + patch; from 10 on * 10000
  std::string algorithm;   // "EntropyCalibration2"
  std::map<std::string, float> scales;  // by tensor; above 0
  // By tensor whose scale is no number above 0, as TensorRT writes it for what it does not
  // quantise: which and where, "0 in line 3 of its table"; an error for a model that multiplies the
  // tensor.
  std::map<std::string, std::string> unusable = {};
  // Whose histograms they were read from (HistogramSet::model); a table does not say.
  std::optional<Digest> model = std::nullopt;
  // By tensor, of each channel; only of histograms that have them: the text has no place for them.
  std::map<std::string, std::vector<float>> means = {};

  friend bool operator==(const CalibrationTable&, const CalibrationTable&) = default;
};

// The scale of every tensor of the set, and the means of channels that it has.
CalibrationTable make_table(const HistogramSet& histograms, const Calibrator& calibrator);

// Of the scales alone.
std::string to_text(const CalibrationTable& table);
// Errors: invalid_argument with the line's number (no such table, no hex digits, a tensor twice);
// unsupported (a table of another major version).
Result<CalibrationTable> parse_calibration_table(std::string_view text);

// What a user gives as a calibration: a table as it is, or the histograms of a set, from which the
// calibrator of that name makes one (the default one where it is ""). Errors: those of reading
// either; usage (no such calibrator; one beside a table, which has its scales).
Result<CalibrationTable> read_calibration(std::string_view bytes, std::string_view calibrator);
// The calibrator as a build's options have it, said in full so that what is left out makes the same
// key: the default one's name where `calibrator` is "" and the bytes are histograms. Errors: those
// of read_calibration, which it has read.
Result<std::string> calibrator_in_full(std::string_view bytes, std::string calibrator);
// Whether the bytes are a set of histograms, of any version; and whether it is one with means of
// channels, by which a build corrects biases.
bool holds_histograms(std::string_view bytes);
bool holds_channel_means(std::string_view bytes);

}  // namespace enginery
