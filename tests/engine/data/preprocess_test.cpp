#include "engine/data/preprocess.h"

#include <gtest/gtest.h>

#include "engine/base/file.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

std::vector<float> values(const Tensor& tensor) {
  auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

TEST(Preprocess, ReadsAllKeys) {
  auto table = parse_preprocess(R"(
[input.data]
color = "bgr"
resize = [240, 320]
filter = "nearest"
crop = [200, 100]
mean = [104, 117.5, 123]
scale = 0.5
layout = "nhwc"
[input."other.name"]
color = "gray"
resize_short = 256
)",
                                "file.toml");
  ASSERT_TRUE(table.ok()) << table.error().message;
  ASSERT_EQ(table->size(), 2u);
  const Preprocess& steps = table->at("data");
  EXPECT_EQ(steps.color, ColorOrder::bgr);
  EXPECT_EQ(steps.resize->height, 240);
  EXPECT_EQ(steps.resize->width, 320);
  EXPECT_EQ(steps.filter, Filter::nearest);
  EXPECT_EQ(steps.crop->width, 100);
  EXPECT_EQ(steps.mean, (std::vector<double>{104, 117.5, 123}));
  EXPECT_EQ(steps.scale, (std::vector<double>{0.5}));
  EXPECT_EQ(steps.layout, PictureLayout::nhwc);
  EXPECT_EQ(table->at("other.name").resize_short, 256);
}

TEST(Preprocess, TheTableInputStandsForTheOnlyOne) {
  auto table = parse_preprocess("[input]\n", "file.toml");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->count(""), 1u);
}

TEST(Preprocess, RefusesWhatItDoesNotKnow) {
  for (const char* text : {
           "",
           "[inputs]",
           "[input]\nmeans = [1]",
           "[input]\ncolour = \"rgb\"",
           "[input]\ncolor = \"RGB\"",
           "[input]\ncolor = 3",
           "[input]\nresize = 224",
           "[input]\nresize = [224]",
           "[input]\nresize = [224.5, 10]",
           "[input]\nresize = [0, 10]",
           "[input]\nresize = [-1, 10]",
           "[input]\nresize = [65536, 65536]",
           "[input]\nresize = [1, 2]\nresize_short = 3",
           "[input]\nresize_short = 1099511627776",
           "[input]\nmean = [1, 2]",
           "[input]\nmean = \"1\"",
           "[input]\nscale = nan",
           "[input]\nscale = [1, 2, inf]",
           "[input]\nmean = []",
           "[input]\ncolor = \"gray\"\nmean = [1, 2, 3]",
           "[input]\nfilter = \"bicubic\"",
           "[input]\nlayout = \"hwc\"",
           "[input]\ncolor = \"rgb\"\n[input.x]",
           "input = 3",
           "[input]\ncrop = [1, 2, 3]",
           "[input",
           "[input]\ncolor = \"rgb\"\ncolor = \"rgb\"",
           "top = 1\n[input]\n",
           "\x80\x81",
       }) {
    auto table = parse_preprocess(text, "file.toml");
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(table.error().message.find("file.toml"), std::string::npos);
  }
  EXPECT_FALSE(parse_preprocess(std::string(100000, '['), "deep").ok());
  EXPECT_EQ(read_preprocess("/nonexistent.toml").error().code, ErrorCode::not_found);
}

// 1 x 2 pixels: (10, 20, 30) and (40, 50, 60).
Picture two_pixels() {
  return {1, 2, {10, 20, 30, 40, 50, 60}};
}

TEST(Apply, OrdersChannelsThenScalesThenLaysOut) {
  Preprocess steps;
  EXPECT_EQ(values(*apply(two_pixels(), steps)), (std::vector<float>{10, 40, 20, 50, 30, 60}));
  steps.color = ColorOrder::bgr;
  steps.mean = {1, 2, 3};
  steps.scale = {1, 10, 100};
  auto planar = apply(two_pixels(), steps);
  EXPECT_EQ(planar->dims(), (Dims{3, 1, 2}));
  EXPECT_EQ(values(*planar), (std::vector<float>{29, 59, 180, 480, 700, 3700}));
  steps.layout = PictureLayout::nhwc;
  auto mixed = apply(two_pixels(), steps);
  EXPECT_EQ(mixed->dims(), (Dims{1, 2, 3}));
  EXPECT_EQ(values(*mixed), (std::vector<float>{29, 180, 700, 59, 480, 3700}));
}

TEST(Apply, GreyIsRecommendation601AsPillowRoundsIt) {
  Preprocess steps;
  steps.color = ColorOrder::gray;
  auto grey = apply(Picture{1, 3, {255, 0, 0, 0, 255, 0, 7, 7, 7}}, steps);
  EXPECT_EQ(grey->dims(), (Dims{1, 1, 3}));
  EXPECT_EQ(values(*grey), (std::vector<float>{76, 150, 7}));
}

TEST(Apply, ResizesBeforeItCrops) {
  Preprocess steps;
  steps.resize_short = 4;
  steps.crop = Preprocess::Size{4, 2};
  auto tensor = apply(test_picture(8, 12), steps);  // 4 x 6, then the middle 4 x 2
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->dims(), (Dims{3, 4, 2}));
  Picture expected = crop_middle(resize(test_picture(8, 12), 4, 6, Filter::bilinear), 4, 2);
  EXPECT_EQ(values(*tensor)[0], expected.at(0, 0)[0]);
}

TEST(Apply, RefusesACropOfASmallerPicture) {
  Preprocess steps;
  steps.crop = Preprocess::Size{2, 2};
  EXPECT_EQ(apply(two_pixels(), steps).error().code, ErrorCode::invalid_argument);
  Preprocess wide;
  wide.resize_short = 65536;  // of 1 x 4000: 65536 x 262 million
  EXPECT_EQ(apply(test_picture(1, 4000), wide).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace enginery
