// Fuzzing what calibration reads: files of histograms and TensorRT's tables, which come from
// elsewhere. What is taken has one encoding, and gives scales that a table can hold.
#include <cmath>

#include "tests/fuzz/calibration_mutator.h"
#include "tests/fuzz/fuzz_target.h"
#include "tuner/calibrate/table.h"

namespace enginery::test {
namespace {

Result<std::vector<FuzzSeed>> calibration_seeds() {
  HistogramSet set;
  set.model = sha256("a model");
  set.samples = 2;
  std::vector<float> elements;
  for (int i = -40; i < 100; ++i) elements.push_back(0.37f * static_cast<float>(i));
  CHECK_OK(set.observe("data", elements));
  CHECK_OK(set.observe("zeros", std::vector<float>(9, 0.0f)));
  CHECK_OK(set.observe("same", std::vector<float>(9, 2.5f)));
  HistogramSet with_channels = set;
  with_channels.channels["data"].observe(elements, 4, 7);
  std::vector<FuzzSeed> seeds{{"histograms", encode(set)}, {"channels", encode(with_channels)}};
  for (const auto& calibrator : make_calibrators())
    seeds.push_back(
        {"table." + std::string(calibrator->name()), to_text(make_table(set, *calibrator))});
  return seeds;
}

void expect_scales(const CalibrationTable& table) {
  for (const auto& [tensor, scale] : table.scales)
    ENSURE(std::isfinite(scale) && scale > 0, "a scale above 0 for '" + tensor + "'");
  const auto again = parse_calibration_table(to_text(table));
  CalibrationTable text = table;
  text.means.clear();
  text.unusable.clear();  // the text has no place for them
  ENSURE(again.ok() && *again == text, "a table that is read as it was written");
}

bool take_histograms(const Bytes& input) {
  const auto set = decode_histogram_set(input);
  if (!set.ok()) return false;
  ENSURE(encode(*set) == input, "one encoding for one set");
  for (const auto& calibrator : make_calibrators()) expect_scales(make_table(*set, *calibrator));
  return true;
}

bool take_table(const Bytes& input) {
  const auto table = parse_calibration_table(input);
  if (!table.ok()) return false;
  expect_scales(*table);
  return true;
}

size_t calibration_bytes(const Bytes& input) {
  return holds_histograms(input) ? take_histograms(input) : take_table(input);
}

}  // namespace

const FuzzTarget& fuzz_target() {
  static const FuzzTarget kCalibration{.name = "calibration",
                                       .fates = {"refused", "taken"},
                                       .seeds = calibration_seeds,
                                       .edited = edited_calibration,
                                       .run = calibration_bytes};
  return kCalibration;
}

}  // namespace enginery::test
