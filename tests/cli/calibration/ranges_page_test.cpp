// What 8 bits make of a calibration's tensors, as a table and as a page.
#include "cli/calibration/ranges_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/file.h"
#include "tests/cli/verbs/example_engine.h"

namespace enginery {
namespace {

// Evenly spread from 0 to 1, a constant, and zeros with one far outlier.
HistogramSet example_set() {
  std::vector<float> even(10'000), far(10'000, 0.5f);
  for (size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(i) / 10'000;
  far[7] = 100;
  HistogramSet set;
  set.samples = 3;
  EXPECT_TRUE(set.observe("even", even).ok());
  EXPECT_TRUE(set.observe("far <b>", far).ok());
  EXPECT_TRUE(set.observe("same", std::vector<float>(10, 0.25f)).ok());
  return set;
}

// A step of 1/127 makes noise of 1 / (12 * 127^2) beside a mean square of 1/3.
TEST(TensorRanges, NoiseIsThatOfRounding) {
  const HistogramSet set = example_set();
  const auto ranges = tensor_ranges(set, **find_calibrator("minmax"));
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].name, "even");
  EXPECT_NEAR(ranges[0].threshold, 1, 1e-3);
  EXPECT_EQ(ranges[0].clipped, 0);
  EXPECT_NEAR(ranges[0].sqnr_db, 10 * std::log10(4.0 * 127 * 127), 0.2);
}

TEST(TensorRanges, ClippedIsTheShareBeyondTheThreshold) {
  const HistogramSet set = example_set();
  const auto ranges = tensor_ranges(set, **find_calibrator("percentile"));
  EXPECT_LT(ranges[1].threshold, 1);
  EXPECT_NEAR(ranges[1].clipped, 1e-4, 1e-9);
  EXPECT_LT(ranges[1].sqnr_db, 10) << "the outlier is most of the signal, and is lost";
}

TEST(TensorRanges, WhatIsTheSameEverywhereIsExact) {
  const HistogramSet set = example_set();
  const auto ranges = tensor_ranges(set, **find_calibrator("mse"));
  EXPECT_TRUE(std::isinf(ranges[2].sqnr_db));
  EXPECT_NE(ranges_text(ranges, 0).find("exact"), std::string::npos);
}

TEST(RangesPage, HasAPlotOfEachTensorWithItsThreshold) {
  const std::string page = ranges_page(example_set(), **find_calibrator("mse"), "set");
  size_t plots = 0;
  for (size_t at = 0; (at = page.find("class=\"m\"", at)) != std::string::npos; ++at) ++plots;
  EXPECT_EQ(plots, 3u);
  EXPECT_NE(page.find("far &lt;b&gt;"), std::string::npos) << "names are escaped";
  EXPECT_EQ(page.find("<b>"), std::string::npos);
}

class InspectHistograms : public ExampleEngineTest {
 protected:
  std::string histograms() {
    EXPECT_TRUE(write_file(file("set.hist"), encode(example_set())).ok());
    return file("set.hist");
  }
};

TEST_F(InspectHistograms, AreATableAndJson) {
  const Printed shown = ask({"inspect", histograms()});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  EXPECT_TRUE(shown.out.starts_with("TENSOR")) << shown.out;
  const Json json = ask({"inspect", histograms(), "--json", "--calibrator", "minmax"}).json();
  expect_fields(json,
                {"schema", "kind", "digest", "model_digest", "rows", "calibrator", "tensors"});
  EXPECT_EQ(json["kind"], "histograms");
  EXPECT_EQ(json["calibrator"], "minmax");
  expect_fields(json["tensors"][2], {"name", "elements", "zeros", "least", "largest", "threshold",
                                     "clipped", "sqnr_db"});
  EXPECT_TRUE(json["tensors"][2]["sqnr_db"].is_null());
}

TEST_F(InspectHistograms, AreShownOnAnEnginesPage) {
  const Printed shown =
      ask({"inspect", engine(), "--html", file("page.html"), "--calib", histograms()});
  ASSERT_EQ(shown.code, ExitCode::ok) << shown.err;
  const std::string page = *read_file(file("page.html"));
  EXPECT_NE(page.find("Rounding to 8 bits"), std::string::npos);
  EXPECT_NE(page.find("Timeline"), std::string::npos);
  expect_refused({{"inspect", engine(), "--calib", histograms()}, ExitCode::usage, "--html"});
}

}  // namespace
}  // namespace enginery
