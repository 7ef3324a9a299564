// Tables in TensorRT's layout: what TensorRT has written is read, what is none is refused by line.
#include "tuner/calibrate/table.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

// Lines as TensorRT's sampleINT8 prints them: the input's range is 1, its scale 1 / 127 (nearly).
TEST(CalibrationTable, ReadsTheScaleFromItsBits) {
  const auto table =
      parse_calibration_table("TRT-8601-EntropyCalibration2\ndata: 3c010a14\nconv1: 3f800000\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->version, 8601);
  EXPECT_EQ(table->algorithm, "EntropyCalibration2");
  EXPECT_FLOAT_EQ(table->scales.at("data"), 1.00024412f / 127);
  EXPECT_EQ(table->scales.at("conv1"), 1.0f);
}

TEST(CalibrationTable, WritesWhatItReads) {
  const std::string text =
      "TRT-7103-MinMaxCalibration\n(Unnamed Layer* 3) [Convolution]_output: 3d0a1b2c\n"
      "Model/conv:0: 3f800000\na: b: 00800000\n";
  const auto table = parse_calibration_table(text);
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->scales.size(), 3u);
  EXPECT_TRUE(table->scales.contains("a: b"));
  EXPECT_EQ(to_text(*table), text);
}

TEST(CalibrationTable, ReadsVersionsFiveToTen) {
  for (const char* version : {"5105", "6001", "7203", "8003", "8601", "9300", "100001", "101300"}) {
    const auto table =
        parse_calibration_table("TRT-" + std::string(version) + "-EntropyCalibration2\n");
    EXPECT_TRUE(table.ok()) << version;
  }
  for (const char* version : {"4001", "999", "110000", "-8601"}) {
    const auto table =
        parse_calibration_table("TRT-" + std::string(version) + "-EntropyCalibration2\n");
    EXPECT_FALSE(table.ok()) << version;
  }
}

TEST(CalibrationTable, TakesLinesThatEndWithCarriageReturns) {
  const auto table = parse_calibration_table("TRT-8601-X\r\na: 3f800000\r\n\r\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->algorithm, "X");
  EXPECT_EQ(table->scales.at("a"), 1.0f);
}

// As TensorRT writes: hexadecimal without zeros in front, 0 for what it does not quantise.
TEST(CalibrationTable, KeepsScalesThatCannotBeUsedApart) {
  const auto table = parse_calibration_table(
      "TRT-8601-EntropyCalibration2\na: 3f800000\n(Unnamed Layer* 5) [Constant]_output: 0\n"
      "small: 800000\nnegative: bf800000\ninfinite: 7f800000\nnone: 7fc00000\nzero: 00000000\n");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(table->scales, (std::map<std::string, float>{{"a", 1.0f}, {"small", 1.17549435e-38f}}));
  EXPECT_EQ(table->unusable,
            (std::map<std::string, std::string>{
                {"(Unnamed Layer* 5) [Constant]_output", "0 in line 3 of its table"},
                {"negative", "-1 in line 5 of its table"},
                {"infinite", "inf in line 6 of its table"},
                {"none", "nan in line 7 of its table"},
                {"zero", "0 in line 8 of its table"}}));
  EXPECT_EQ(to_text(*table), "TRT-8601-EntropyCalibration2\na: 3f800000\nsmall: 00800000\n");
}

TEST(CalibrationTable, RefusesByLine) {
  const std::string head = "TRT-8601-X\na: 3f800000\n";
  for (const auto& [text, says] : std::vector<std::pair<std::string, const char*>>{
           {"", "line 1"},
           {"TRT-8601", "line 1"},
           {"TRT-8601-", "line 1"},
           {"TRT-86x-X", "line 1"},
           {"TRT-8601-X\r\r", "line 1"},  // what ends a line is no part of the word
           {"a: 3f800000\n", "line 1"},
           {head + "b 3f800000", "line 3"},
           {head + ": 3f800000", "line 3"},
           {head + "b: ", "line 3"},
           {head + "b: 03f800000", "line 3"},
           {head + "b: -1", "line 3"},
           {head + "b: 3f80000g", "line 3"},
           {head + "a: 3f800000", "tensor 'a' stands twice"},
           {head + "a: 0", "tensor 'a' stands twice"},
           {head + "b: 0\nb: 3f800000", "tensor 'b' stands twice"},
       }) {
    const auto table = parse_calibration_table(text);
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_NE(table.error().message.find(says), std::string::npos) << table.error().message;
  }
}

TEST(Calibration, IsATableAsItIsOrMadeOfHistograms) {
  const std::string text = "TRT-8601-MinMaxCalibration\nx: 3f800000\n";
  const auto table = read_calibration(text, "");
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(to_text(*table), text);
  HistogramSet set;
  ASSERT_TRUE(set.observe("x", std::vector<float>{-1, 0.5f, 127}).ok());
  set.samples = 1;
  set.model = sha256("a model");
  const Bytes bytes = encode(set);
  EXPECT_TRUE(holds_histograms(bytes));
  EXPECT_FALSE(holds_histograms(text));
  const auto made = read_calibration(bytes, "minmax");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->scales.at("x"), 1);
  EXPECT_EQ(made->model, set.model);
  EXPECT_FALSE(table->model) << "a text does not say whose it is";
  EXPECT_EQ(read_calibration(bytes, "")->algorithm, "MseCalibration");
}

TEST(Calibration, MeansOfChannelsComeWithHistogramsAndStayOutOfTheText) {
  HistogramSet set;
  ASSERT_TRUE(set.observe("x", std::vector<float>{1, 3}).ok());
  set.samples = 1;
  set.channels["x"].observe(std::vector<float>{1, 3}, 2, 1);
  set.channels["y"].observe(std::vector<float>{1e9f}, 1, 1);
  const auto made = read_calibration(encode(set), "");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->means.at("x"), (std::vector<float>{1, 3}));
  EXPECT_FALSE(made->means.contains("y")) << "beyond what sums hold";
  EXPECT_TRUE(parse_calibration_table(to_text(*made))->means.empty());
}

TEST(Calibration, ACalibratorChoosesNothingInATable) {
  const auto refused = read_calibration("TRT-8601-MinMaxCalibration\nx: 3f800000\n", "mse");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  EXPECT_EQ(read_calibration("anything", "").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read_calibration("ENGHIST1 cut", "").error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
