// The geometry of sliding windows: which lists are refused and why, how many windows fit, and where
// missing spatial dimensions go. Convolution and pooling rely on it alone.
#include "engine/ops/window.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

// The lists of one 1-D window; a test changes what it is about.
struct Lists {
  std::vector<int64_t> kernel{3}, strides{1}, dilations{1}, pads_begin{0}, pads_end{0};
};

Result<std::vector<Window>> made(const Lists& l, size_t spatial = 1) {
  return make_windows("pool", spatial,
                      {l.kernel, l.strides, l.dilations, l.pads_begin, l.pads_end});
}

std::string message(const Lists& lists, size_t spatial = 1) {
  const auto windows = made(lists, spatial);
  return windows.ok() ? "accepted" : windows.error().message;
}

TEST(MakeWindows, JoinsTheListsByDimension) {
  const auto windows = made({{3, 5}, {1, 2}, {1, 4}, {0, 6}, {7, 8}}, 2);
  ASSERT_TRUE(windows.ok());
  const Window& second = windows->at(1);
  EXPECT_EQ(second.kernel, 5);
  EXPECT_EQ(second.stride, 2);
  EXPECT_EQ(second.dilation, 4);
  EXPECT_EQ(second.pad_begin, 6);
  EXPECT_EQ(second.pad_end, 8);
  EXPECT_EQ(second.extent(), 17);  // 5 taps, 4 apart
}

TEST(MakeWindows, NamesTheListOfTheWrongLength) {
  EXPECT_EQ(message({.strides = {1, 1}}), "pool: expected 1 strides, got 2");
  EXPECT_EQ(message({.dilations = {}}), "pool: expected 1 dilations, got 0");
  EXPECT_EQ(message({.pads_begin = {}}), "pool: expected 1 pads_begin, got 0");
  EXPECT_EQ(message({.pads_end = {0, 0}}), "pool: expected 1 pads_end, got 2");
  EXPECT_EQ(message({.kernel = {3, 3}}), "pool: expected 1 kernel sizes, got 2");
}

TEST(MakeWindows, NamesTheValueOutOfRange) {
  EXPECT_EQ(message({.strides = {0}}), "pool: expected strides between 1 and 2147483647, got 0");
  EXPECT_EQ(message({.dilations = {-2}}),
            "pool: expected dilations between 1 and 2147483647, got -2");
  EXPECT_EQ(message({.pads_begin = {-1}}),
            "pool: expected pads_begin between 0 and 2147483647, got -1");
  EXPECT_EQ(message({.pads_end = {int64_t{1} << 31}}),
            "pool: expected pads_end between 0 and 2147483647, got 2147483648");
  EXPECT_EQ(message({.kernel = {0}}), "pool: expected kernel sizes of at least 1, got 0");
  EXPECT_EQ(message({.kernel = {int64_t{1} << 31}}),
            "pool: expected kernel sizes of at least 1, got 2147483648");
}

TEST(MakeWindows, TakesTheLargestValuesAndARunTimeKernel) {
  const int64_t most = (int64_t{1} << 31) - 1;
  EXPECT_EQ(message({{most}, {most}, {most}, {most}, {most}}), "accepted");
  EXPECT_EQ(message({.kernel = {kDynamic}}), "accepted");
}

TEST(WindowsThatFit, RoundsDownOrUp) {
  struct Case {
    int64_t in;
    Window window;
    int64_t down, up;
  };
  const Case cases[] = {
      {7, {.kernel = 3}, 5, 5},
      {7, {.kernel = 3, .stride = 2}, 3, 3},
      {8, {.kernel = 3, .stride = 2}, 3, 4},
      {3, {.kernel = 3, .stride = 9}, 1, 1},  // exactly one window, whatever the stride
      {7, {.kernel = 3, .dilation = 3}, 1, 1},
      {1, {.kernel = 3, .pad_begin = 1, .pad_end = 1}, 1, 1},
      {0, {.kernel = 2, .pad_begin = 1, .pad_end = 1}, 1, 1},  // padding alone holds a window
      // A second window would start at 4, in the right padding: rounding up drops it.
      {4, {.kernel = 2, .stride = 4, .pad_end = 1}, 1, 1},
  };
  for (const Case& c : cases) {
    const std::string what = std::to_string(c.in) + " elements, kernel " +
                             std::to_string(c.window.kernel) + ", stride " +
                             std::to_string(c.window.stride);
    EXPECT_EQ(*windows_that_fit("pool", c.in, c.window, WindowRounding::floor), c.down) << what;
    EXPECT_EQ(*windows_that_fit("pool", c.in, c.window, WindowRounding::ceil), c.up) << what;
  }
}

TEST(WindowsThatFit, KeepsARunTimeSizeOnlyWhereEveryWindowKeepsIt) {
  const Window same{.kernel = 3, .pad_begin = 1, .pad_end = 1},
      strided{.kernel = 3, .stride = 2, .pad_begin = 1, .pad_end = 1}, shrinking{.kernel = 3},
      unknown{.kernel = kDynamic};
  const auto fits = [](int64_t in, const Window& w) {
    return *windows_that_fit("conv", in, w, WindowRounding::floor);
  };
  EXPECT_EQ(fits(-3, same), -3);
  EXPECT_EQ(fits(-3, strided), kDynamic);
  EXPECT_EQ(fits(-3, shrinking), kDynamic);
  EXPECT_EQ(fits(8, unknown), kDynamic);
}

TEST(WindowsThatFit, SaysWhatDidNotFit) {
  const auto none = windows_that_fit(
      "conv", 4, {.kernel = 3, .dilation = 3, .pad_begin = 1, .pad_end = 1}, WindowRounding::floor);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(none.error().message,
            "conv: a window of 7 does not fit into 4 elements and 2 of padding");
}

TEST(SpatialOf, MissingDimensionsComeFirst) {
  const std::vector<int64_t> row{5}, plane{5, 6}, block{5, 6, 7};
  EXPECT_EQ(spatial_of(row, 1), (Spatial{1, 1, 5}));
  EXPECT_EQ(spatial_of(plane, 0), (Spatial{0, 5, 6}));
  EXPECT_EQ(spatial_of(block, 9), (Spatial{5, 6, 7}));
}

}  // namespace
}  // namespace enginery
