#include "engine/data/picture.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/data/resize.h"
#include "tests/engine/data/picture_files.h"

namespace enginery {
namespace {

TEST(Png, GivesEveryPixelBack) {
  Picture picture = test_picture(13, 17);
  auto decoded = decode_picture(encode_png(picture));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  EXPECT_EQ(decoded->height, 13);
  EXPECT_EQ(decoded->width, 17);
  EXPECT_EQ(decoded->rgb, picture.rgb);
}

// Every kind of PNG, and the RGB bytes that its pixels stand for.
struct PngCase {
  const char* name;
  PngImage image;
  std::vector<uint8_t> rgb;
};
using namespace std::string_literals;
const std::vector<PngCase>& png_cases() {
  static const std::vector<PngCase> cases = {
      {"grey", {2, 1, 8, 0, "\x05\xc8"s, {}, false}, {5, 5, 5, 200, 200, 200}},
      {"grey, 1 bit", {2, 1, 1, 0, "\x40"s, {}, false}, {0, 0, 0, 255, 255, 255}},
      {"grey, 4 bits", {2, 1, 4, 0, "\x1f"s, {}, false}, {17, 17, 17, 255, 255, 255}},
      {"grey, 16 bits", {1, 1, 16, 0, "\x12\xff"s, {}, false}, {18, 18, 18}},
      {"grey and alpha", {1, 1, 8, 4, "\x12\x00"s, {}, false}, {18, 18, 18}},
      {"palette", {2, 1, 8, 3, "\x01\x00"s, {1, 2, 3, 4, 5, 6}, false}, {4, 5, 6, 1, 2, 3}},
      {"palette, 2 bits", {2, 1, 2, 3, "\x40"s, {1, 2, 3, 4, 5, 6}, false}, {4, 5, 6, 1, 2, 3}},
      {"colour and alpha", {1, 1, 8, 6, "\x0a\x14\x1e\x00"s, {}, false}, {10, 20, 30}},
      {"colour, 16 bits", {1, 1, 16, 2, "\x0a\xff\x14\x80\x1e\x00"s, {}, false}, {10, 20, 30}},
      {"interlaced", {1, 2, 8, 2, "\x01\x02\x03\x04\x05\x06"s, {}, true}, {1, 2, 3, 4, 5, 6}},
  };
  return cases;
}

TEST(Png, ReadsEveryColourTypeAndDepth) {
  for (const PngCase& c : png_cases()) {
    auto decoded = decode_picture(encode_png(c.image));
    ASSERT_TRUE(decoded.ok()) << c.name << ": " << decoded.error().message;
    EXPECT_EQ(decoded->rgb, c.rgb) << c.name;
  }
}

TEST(Jpeg, StaysCloseToThePicture) {
  Picture picture = test_picture(40, 56);
  for (Picture smooth = resize(picture, 40, 56, Filter::nearest);
       bool progressive : {false, true}) {
    for (size_t i = 0; i < smooth.rgb.size(); ++i)
      smooth.rgb[i] = static_cast<uint8_t>(40 + (i / 3) % 56 + i % 3 * 60);
    auto decoded = decode_picture(encode_jpeg(smooth, {3, 95, progressive}));
    ASSERT_TRUE(decoded.ok()) << decoded.error().message;
    ASSERT_EQ(decoded->rgb.size(), smooth.rgb.size());
    int worst = 0;
    for (size_t i = 0; i < smooth.rgb.size(); ++i)
      worst = std::max(worst, std::abs(smooth.rgb[i] - decoded->rgb[i]));
    EXPECT_LE(worst, 12);
  }
}

TEST(Jpeg, GreyBecomesEqualChannels) {
  auto decoded = decode_picture(encode_jpeg(test_picture(9, 9), {1, 100, false}));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  for (int64_t i = 0; i < 81; ++i) {
    EXPECT_EQ(decoded->at(0, i)[0], decoded->at(0, i)[1]);
    EXPECT_EQ(decoded->at(0, i)[0], decoded->at(0, i)[2]);
    EXPECT_NEAR(decoded->at(0, i)[0], test_picture(9, 9).at(0, i)[0], 40);
  }
}

TEST(Jpeg, CmykBecomesRgbAsPillowDoes) {
  Picture flat{8, 8,
               std::vector<uint8_t>(8 * 8 * 3, 100)};  // C = M = Y = 100, K = 200, stored inverted
  auto decoded = decode_picture(encode_jpeg(flat, {4, 100, false}));
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  // Pillow: not_black = 200, ink = 155: 200 - 155 * 200 / 255 = 78
  EXPECT_NEAR(decoded->rgb[0], 78, 1);
}

TEST(Picture, RefusesEveryTruncation) {
  for (const std::string& whole :
       {encode_jpeg(test_picture(20, 20)), encode_jpeg(test_picture(20, 20), {3, 90, true}),
        encode_png(test_picture(20, 20))}) {
    for (size_t n = 0; n + 2 < whole.size();
         ++n) {  // a JPEG without its end marker is complete for Pillow too
      auto decoded = decode_picture(std::string_view(whole).substr(0, n));
      EXPECT_FALSE(decoded.ok()) << "cut at " << n << " of " << whole.size();
      EXPECT_TRUE(decoded.ok() || decoded.error().code == ErrorCode::invalid_argument);
    }
  }
}

TEST(Picture, SurvivesFlippedBytes) {
  const unsigned seed = 20261121;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const std::string& whole :
       {encode_jpeg(test_picture(20, 20)), encode_jpeg(test_picture(20, 20), {3, 90, true}),
        encode_png(test_picture(20, 20))}) {
    for (int i = 0; i < 300; ++i) {
      std::string bad = whole;
      // The size fields stay: a huge picture is another test's business.
      for (int k = 0; k < 3; ++k)
        bad[32 + random() % (bad.size() - 32)] = static_cast<char>(random());
      auto decoded = decode_picture(bad);
      EXPECT_TRUE(decoded.ok() || decoded.error().code == ErrorCode::invalid_argument);
    }
  }
}

TEST(Picture, RefusesHugeAndForeignFiles) {
  std::string png = encode_png(test_picture(4, 4));
  png.replace(
      16, 8,
      "\x00\x01\x00\x00\x00\x01\x00\x00"s);  // 65536 x 65536; the checksum no longer fits either
  EXPECT_EQ(decode_picture(png).error().code, ErrorCode::invalid_argument);
  std::string jpeg = encode_jpeg(test_picture(16, 16));
  size_t frame = jpeg.find("\xff\xc0"s);
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xff\x00\xff\x00"s);  // 65280 x 65280
  auto refused = decode_picture(jpeg);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("65280"), std::string::npos);
  EXPECT_EQ(decode_picture("GIF89a").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(read_picture("/nonexistent.png").error().code, ErrorCode::not_found);
}

Picture grey_row(std::initializer_list<uint8_t> values) {
  Picture picture{1, static_cast<int64_t>(values.size()), {}};
  for (uint8_t v : values) picture.rgb.insert(picture.rgb.end(), 3, v);
  return picture;
}

TEST(Resize, BilinearUsesHalfPixelCentresAndNoAntialiasing) {
  // Positions -0.25, 0.25, 0.75, 1.25 of {0, 100}.
  EXPECT_EQ(resize(grey_row({0, 100}), 1, 4, Filter::bilinear).rgb, grey_row({0, 25, 75, 100}).rgb);
  // Positions 0.5 and 2.5; 6 -> 2 reads 1 and 4 only, whatever lies between.
  EXPECT_EQ(resize(grey_row({0, 100, 200, 100}), 1, 2, Filter::bilinear).rgb,
            grey_row({50, 150}).rgb);
  EXPECT_EQ(resize(grey_row({255, 10, 255, 255, 20, 255}), 1, 2, Filter::bilinear).rgb,
            grey_row({10, 20}).rgb);
  EXPECT_EQ(resize(grey_row({0, 1}), 1, 4, Filter::bilinear).rgb, grey_row({0, 0, 1, 1}).rgb);
  EXPECT_EQ(resize(grey_row({1, 2}), 1, 1, Filter::bilinear).rgb,
            grey_row({2}).rgb);  // 1.5 rounds up
}

TEST(Resize, NearestTakesTheCentre) {
  EXPECT_EQ(resize(grey_row({1, 2, 3}), 1, 1, Filter::nearest).rgb, grey_row({2}).rgb);
  EXPECT_EQ(resize(grey_row({1, 2}), 1, 4, Filter::nearest).rgb, grey_row({1, 1, 2, 2}).rgb);
  EXPECT_EQ(resize(grey_row({1, 2, 3, 4}), 1, 2, Filter::nearest).rgb, grey_row({2, 4}).rgb);
}

TEST(CropMiddle, RoundsTheMarginDown) {
  EXPECT_EQ(crop_middle(grey_row({1, 2, 3, 4}), 1, 1).rgb, grey_row({2}).rgb);
  EXPECT_EQ(crop_middle(grey_row({1, 2, 3, 4, 5}), 1, 2).rgb, grey_row({2, 3}).rgb);
}

}  // namespace
}  // namespace enginery
