// The text of build options: part of every key, so its bytes are pinned.
#include "engine/options/options.h"

#include <gtest/gtest.h>

#include "engine/base/digest.h"

namespace enginery {
namespace {

// Every field with a value that is not its default.
BuildOptions unusual_options() {
  BuildOptions out;
  out.precisions = {Precision::fp32, Precision::tf32, Precision::fp16};
  out.shapes = {{"ids", {2, 128}}, {"image:0", {1, 3, 224, 224}}};
  out.threads = 8;
  out.level = 5;
  out.aux_streams = 3;
  out.without_sources = {"cudnn", "onednn"};
  out.skip_passes = {"fuse_vertical"};
  out.provisional = true;
  out.layer_precisions = {{"conv:1", Precision::fp32}, {"head/*", Precision::fp16}};
  out.memory_pools.workspace = 4096;
  return out;
}

TEST(BuildOptions, HaveOneTextThatKeysDependOn) {
  EXPECT_EQ(to_text(BuildOptions()),
            "precisions=fp32\nshapes=\nthreads=0\nlevel=3\nwithout_sources=\nskip_passes=\n"
            "provisional=false\naux_streams=-1\n");
  EXPECT_EQ(
      to_text(unusual_options()),
      "precisions=fp32,tf32,fp16\nshapes=ids:2x128,image:0:1x3x224x224\nthreads=8\nlevel=5\n"
      "without_sources=cudnn,onednn\nskip_passes=fuse_vertical\nprovisional=true\n"
      "aux_streams=3\nlayer_precisions=conv:1:fp32,head/*:fp16\nmemory_pools=workspace:4096B\n");
}

TEST(BuildOptions, ReadBackFromTheirText) {
  const auto back = parse_options(to_text(unusual_options()));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->precisions, unusual_options().precisions);
  EXPECT_EQ(back->shapes, unusual_options().shapes);
  EXPECT_EQ(back->threads, 8);
  EXPECT_EQ(back->level, 5);
  EXPECT_EQ(back->aux_streams, 3);
  EXPECT_EQ(back->without_sources, unusual_options().without_sources);
  EXPECT_EQ(back->skip_passes, unusual_options().skip_passes);
  EXPECT_TRUE(back->provisional);
  EXPECT_EQ(to_text(*back), to_text(unusual_options()));
}

// What an older client sends lacks the newer lines.
TEST(BuildOptions, KeepTheDefaultOfAMissingLine) {
  const auto options = parse_options("level=2\n");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->level, 2);
  EXPECT_EQ(options->aux_streams, -1);
  EXPECT_EQ(options->precisions, (std::set<Precision>{Precision::fp32}));
}

TEST(BuildOptions, RefuseALineThatTheyDoNotKnowAndNameIt) {
  for (const char* line : {"levels=2", "level", "level=two", "level=-2", "threads=99999999",
                           "precisions=fp64", "shapes=x", "shapes=x:1xN"}) {
    const auto options = parse_options(std::string("threads=1\n") + line + "\n");
    ASSERT_FALSE(options.ok()) << line;
    EXPECT_EQ(options.error().code == ErrorCode::usage ||
                  options.error().code == ErrorCode::invalid_argument,
              true)
        << line;
    const std::string value = std::string(line).substr(std::string(line).find('=') + 1);
    EXPECT_NE(options.error().message.find(value), std::string::npos) << options.error().message;
  }
}

TEST(ParseShapes, TakesNamesThatHoldColons) {
  const auto shapes = parse_shapes("a:0:1x2,b:3");
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ(*shapes, (std::map<std::string, Dims>{{"a:0", {1, 2}}, {"b", {3}}}));
  EXPECT_TRUE(parse_shapes("")->empty());
}

TEST(ParsePrecisions, AlwaysHasFp32) {
  EXPECT_EQ(*parse_precisions("fp16"), (std::set<Precision>{Precision::fp32, Precision::fp16}));
  EXPECT_EQ(*parse_precisions(""), (std::set<Precision>{Precision::fp32}));
  EXPECT_FALSE(parse_precisions("fp32,fp12").ok());
}

TEST(BuildOptions, NameACalibrationOnlyWhereThereIsOne) {
  BuildOptions options;
  options.calibration = sha256("scales").text();
  options.calibrator = "mse";
  EXPECT_EQ(to_text(options),
            to_text(BuildOptions()) + "calibration=" + options.calibration + "\ncalibrator=mse\n");
  const auto back = parse_options(to_text(options));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->calibration, options.calibration);
  EXPECT_EQ(back->calibrator, "mse");
  EXPECT_FALSE(parse_options("calibration=scales").ok());
}

TEST(BuildOptions, NameHeldOutRowsAndTheirLimitOnlyWhereThereAreAny) {
  BuildOptions options;
  options.held_out = sha256("rows").text();
  options.max_accuracy_drop = "0.5";
  EXPECT_EQ(to_text(options),
            to_text(BuildOptions()) + "held_out=" + options.held_out + "\nmax_accuracy_drop=0.5\n");
  const auto back = parse_options(to_text(options));
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->held_out, options.held_out);
  EXPECT_EQ(back->max_accuracy_drop, "0.5");
  EXPECT_FALSE(parse_options("held_out=rows").ok());
  EXPECT_FALSE(parse_options("max_accuracy_drop=much").ok());
}

TEST(BuildOptions, OfACalibrationInTheFarmNameItsData) {
  BuildOptions options;
  EXPECT_FALSE(is_calibrated(options));
  options.calib_data = sha256("rows").text();
  EXPECT_TRUE(is_calibrated(options));
  EXPECT_EQ(parse_options(to_text(options)).value().calib_data, options.calib_data);
  EXPECT_FALSE(parse_options("calib_data=rows").ok());
  EXPECT_EQ(to_text(options).find("bias_correction"), std::string::npos);
  options.bias_correction = true;
  EXPECT_TRUE(parse_options(to_text(options)).value().bias_correction);
  options.max_accuracy_drop = "1";
  EXPECT_FALSE(has_budget(options)) << "there is nothing to measure it on";
  options.held_out = sha256("others").text();
  EXPECT_TRUE(has_budget(options));
  options.calib_data.clear();
  EXPECT_FALSE(has_budget(options)) << "there is nothing to leave in float";
}

TEST(AccuracyDrop, HasOneFormAndIsAPercentage) {
  for (const char* text : {"0.5", "0.5%", "0.50", "00.5"})
    EXPECT_EQ(accuracy_drop_text(text).value(), "0.5");
  EXPECT_EQ(accuracy_drop_text("0").value(), "0");
  EXPECT_EQ(accuracy_drop_text("100%").value(), "100");
  for (const char* text : {"", "%", "-1", "101", "nan", "inf", "0.5 %", "half", "0x1"})
    EXPECT_FALSE(accuracy_drop_text(text).ok()) << text;
}

}  // namespace
}  // namespace enginery
