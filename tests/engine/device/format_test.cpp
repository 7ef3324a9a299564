#include "engine/device/format.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/device/format_convert.h"

namespace enginery {
namespace {

constexpr Layout kLinear{}, kLast{LayoutKind::channels_last, 0},
    kLast8{LayoutKind::channels_last, 8};
// Some of the 24 channels of a wider tensor.
constexpr Layout kLast24{LayoutKind::channels_last, 0, 24};
constexpr Layout kBlocked8{LayoutKind::blocked, 8}, kBlocked16{LayoutKind::blocked, 16};

Format float32(const Layout& layout) {
  return {DataType::float32, layout};
}

Tensor counting(const Dims& dims) {
  Tensor t(DataType::float32, dims);
  auto values = t.mutable_data<float>();
  std::iota(values.begin(), values.end(), 1.0f);
  return t;
}

TEST(Format, TextReadsBackToItself) {
  for (const Layout& layout : {kLinear, kLast, kLast8, kLast24, kBlocked8, kBlocked16}) {
    Format format{DataType::bfloat16, layout};
    auto back = parse_format(to_string(format));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, format) << to_string(format);
  }
  EXPECT_EQ(to_string(float32(kBlocked16)), "float32:nChw16c");
  EXPECT_EQ(to_string(float32(kLast8)), "float32:nhwc8");
  EXPECT_EQ(to_string(float32(kLast24)), "float32:nhwc/24");
}

TEST(Format, RefusesTextOfNoFormat) {
  for (const char* text : {"", "float32", "float32:", "float33:linear", "float32:nhwc0x",
                           "float32:nChwc", "float32:nChw0c", "float32:nhwc/", "float32:nhwc/0",
                           "float32:nhwc8/24", "float32:nhwc/16777217"}) {
    auto parsed = parse_format(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  }
}

TEST(Format, BytesCountThePaddingOfChannels) {
  Dims dims{2, 3, 5, 7};
  EXPECT_EQ(physical_bytes(dims, float32(kLinear)), 2 * 3 * 5 * 7 * 4);
  EXPECT_EQ(physical_bytes(dims, float32(kLast)), 2 * 3 * 5 * 7 * 4);
  EXPECT_EQ(physical_bytes(dims, float32(kLast8)), 2 * 8 * 5 * 7 * 4);
  EXPECT_EQ(physical_bytes(dims, float32(kBlocked16)), 2 * 16 * 5 * 7 * 4);
  EXPECT_EQ(physical_bytes({}, float32(kLinear)), 4);
}

TEST(Format, SamePlacementIsWhatConversionGives) {
  // The claim must agree with the bytes for every pair of layouts.
  std::vector<Dims> shapes{{1, 16, 1, 1}, {2, 16, 1, 1}, {1, 1, 5, 7}, {1, 8, 1, 3}, {1, 16, 2, 2},
                           {1, 32, 2, 1}, {3, 5, 1},     {4, 6},       {1, 3, 1, 1}};
  for (const Dims& dims : shapes) {
    for (const Layout& a : {kLinear, kLast, kLast8, kBlocked8, kBlocked16}) {
      for (const Layout& b : {kLinear, kLast, kLast8, kBlocked8, kBlocked16}) {
        if (dims.size() < 3 && (a.block || b.block)) continue;
        Format fa = float32(a), fb = float32(b);
        std::vector<char> bytes_a(static_cast<size_t>(physical_bytes(dims, fa)));
        std::vector<char> bytes_b(static_cast<size_t>(physical_bytes(dims, fb)));
        to_physical(counting(dims), fa, bytes_a.data());
        to_physical(counting(dims), fb, bytes_b.data());
        bool same = bytes_a == bytes_b;
        // Padded and unpadded storage of equal bytes may still be called different; never the
        // reverse.
        if (same_placement(dims, fa, fb)) {
          EXPECT_TRUE(same) << to_string(dims) << " " << to_string(fa) << " " << to_string(fb);
        }
        if (same && !a.block && !b.block) {
          EXPECT_TRUE(same_placement(dims, fa, fb)) << to_string(dims);
        }
      }
    }
  }
  EXPECT_TRUE(same_placement({1, 16, 1, 1}, float32(kBlocked16), float32(kLinear)));
  EXPECT_TRUE(same_placement({1, 16, 3, 3}, float32(kBlocked16), float32(kLast)));
  EXPECT_FALSE(same_placement({1, 32, 3, 3}, float32(kBlocked16), float32(kLast)));
}

TEST(FormatConvert, ReturnsTheTensorThatWentIn) {
  Dims dims{2, 19, 3, 4};
  for (const Layout& layout : {kLinear, kLast, kLast8, kBlocked8, kBlocked16}) {
    std::vector<char> bytes(static_cast<size_t>(physical_bytes(dims, float32(layout))), '\x7f');
    Tensor t = counting(dims);
    to_physical(t, float32(layout), bytes.data());
    EXPECT_EQ(relative_error(from_physical(bytes.data(), dims, float32(layout)), t), 0)
        << to_string(layout);
  }
}

TEST(FormatConvert, PutsChannelsLastAndZeroesPadding) {
  Dims dims{1, 3, 1, 2};
  std::vector<float> values(8, -1.0f);
  to_physical(counting(dims), float32({LayoutKind::channels_last, 4}), values.data());
  EXPECT_EQ(values, (std::vector<float>{1, 3, 5, 0, 2, 4, 6, 0}));
}

TEST(Format, APitchReachesFromTheFirstElementToTheLast) {
  EXPECT_EQ(physical_bytes({2, 8, 5, 7}, float32(kLast24)), (69 * 24 + 8) * 4);
  EXPECT_EQ(physical_bytes({1, 8, 1, 1}, float32(kLast24)), 8 * 4);
  EXPECT_FALSE(same_placement({2, 8, 5, 7}, float32(kLast24), float32(kLast)));
  EXPECT_EQ(without_pitch(float32(kLast24)), float32(kLast));
  EXPECT_EQ(with_pitch(float32(kLast), 24), float32(kLast24));
}

TEST(Format, APitchFitsPiecesOf16Bytes) {
  const Dims dims{2, 8, 5, 7};
  EXPECT_TRUE(fits_pitch(dims, float32(kLinear)));
  EXPECT_TRUE(fits_pitch(dims, float32(kLast24)));
  EXPECT_TRUE(fits_pitch({2, 24, 5}, float32(kLast24)));
  EXPECT_TRUE(fits_pitch({2, 8, 5, 7}, {DataType::float16, kLast24}));
  EXPECT_FALSE(fits_pitch({2, 4, 5, 7}, {DataType::float16, kLast24}));  // 8 bytes a pixel
  EXPECT_FALSE(fits_pitch({2, 32, 5, 7}, float32(kLast24)));             // wider than the pitch
  EXPECT_FALSE(fits_pitch({2, 8}, float32(kLast24)));                    // no pixels
  EXPECT_FALSE(fits_pitch({0, 8, 5, 7}, float32(kLast24)));
  EXPECT_FALSE(fits_pitch(dims, float32({LayoutKind::linear, 0, 24})));
  EXPECT_FALSE(fits_pitch(dims, float32({LayoutKind::channels_last, 8, 24})));
  EXPECT_FALSE(fits_pitch(dims, float32({LayoutKind::channels_last, 0, 25})));
  EXPECT_FALSE(fits_pitch(dims, float32({LayoutKind::channels_last, 0, -24})));
  EXPECT_FALSE(fits_pitch({int64_t{1} << 40, 8, 1 << 19, 1}, float32(kLast24)));  // overflows
}

TEST(FormatConvert, LeavesWhatLiesBetweenThePixels) {
  const Dims dims{1, 2, 1, 2};
  std::vector<float> values(8, -1.0f);
  const Format format = float32({LayoutKind::channels_last, 0, 5});
  to_physical(counting(dims), format, values.data());
  EXPECT_EQ(values, (std::vector<float>{1, 3, -1, -1, -1, 2, 4, -1}));
  EXPECT_EQ(relative_error(from_physical(values.data(), dims, format), counting(dims)), 0);
}

TEST(FormatConvert, ConvertsTheElementType) {
  Tensor t = Tensor::of<float>({2}, {1.5f, -2.0f});
  uint16_t halves[2];
  to_physical(t, {DataType::float16, kLinear}, halves);
  EXPECT_EQ(halves[0], 0x3e00);
  EXPECT_EQ(halves[1], 0xc000);
}

}  // namespace
}  // namespace enginery
