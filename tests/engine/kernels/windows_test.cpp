// Depthwise convolution and pooling over every geometry that their kernels tell apart: sizes,
// strides, dilations and paddings that leave windows inside, across and outside of the image.
#include <cmath>

#include "engine/kernels/cpu/isa/depthwise.h"
#include "engine/kernels/cpu/isa/pool.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

// One dimension of a window.
struct Side {
  int64_t in, kernel, stride, dilation, pad, pad_end;
  int64_t out() const { return (in + pad + pad_end - (kernel - 1) * dilation - 1) / stride + 1; }
  // The input's place under tap k of output o.
  int64_t place(int64_t o, int64_t k) const { return o * stride - pad + k * dilation; }
  bool inside(int64_t o, int64_t k) const { return place(o, k) >= 0 && place(o, k) < in; }
};

std::string text_of(const Side& s) {
  return std::to_string(s.in) + " by " + std::to_string(s.kernel) + " stride " +
         std::to_string(s.stride) + " dilation " + std::to_string(s.dilation) + " pads " +
         std::to_string(s.pad) + "," + std::to_string(s.pad_end);
}

// The kernels have code of their own for four pixels under square windows of 3, 5 and 7, of stride
// 1 and 2, inside the image and at its edges.
const Side kSides[] = {
    {9, 3, 1, 1, 1, 1},  {9, 3, 2, 1, 1, 1},  {10, 3, 2, 1, 0, 0}, {9, 5, 1, 1, 2, 2},
    {12, 5, 2, 1, 2, 1}, {9, 1, 1, 1, 0, 0},  {9, 2, 2, 1, 0, 0},  {9, 3, 1, 2, 2, 2},
    {11, 3, 3, 3, 1, 4}, {2, 3, 1, 1, 1, 1},  {1, 3, 1, 1, 1, 1},  {3, 7, 1, 1, 3, 3},
    {5, 3, 1, 1, 4, 4},  {16, 3, 1, 1, 0, 0}, {7, 4, 1, 1, 1, 2},  {4, 3, 1, 1, 1, 1},
    {3, 5, 1, 1, 2, 2},  {5, 5, 1, 1, 2, 2},  {7, 5, 2, 1, 2, 2},  {9, 7, 1, 1, 3, 3},
    {13, 7, 2, 1, 3, 3}, {37, 3, 1, 1, 1, 1}, {41, 3, 2, 1, 1, 1}, {39, 2, 2, 1, 0, 0}};

template <typename Arguments>
void set_geometry(const Side& y, const Side& x, Arguments& a) {
  a.in_h = y.in;
  a.in_w = x.in;
  a.out_h = y.out();
  a.out_w = x.out();
  a.kernel_h = y.kernel;
  a.kernel_w = x.kernel;
  a.stride_h = y.stride;
  a.stride_w = x.stride;
  a.dilation_h = y.dilation;
  a.dilation_w = x.dilation;
  a.pad_h = y.pad;
  a.pad_w = x.pad;
}

// Calls f(value, tap) for every tap of the window of pixel (oy, ox) that lies inside the image.
template <typename F>
void for_each_tap(const Side& y, const Side& x, int64_t oy, int64_t ox, F&& f) {
  for (int64_t ky = 0; ky < y.kernel; ++ky) {
    for (int64_t kx = 0; kx < x.kernel; ++kx) {
      if (y.inside(oy, ky) && x.inside(ox, kx))
        f(y.place(oy, ky) * x.in + x.place(ox, kx), ky * x.kernel + kx);
    }
  }
}

// Two images; the other dimension is 3 of 4 with one row of padding.
void expect_depthwise(const CpuKernels& kernels, const Side& y, const Side& x, int64_t channels) {
  const int64_t images = 2, pixels = y.in * x.in;
  const std::vector<float> in = values(images * pixels * channels, 1),
                           weights = values(y.kernel * x.kernel * channels, 2),
                           bias = values(channels, 3);
  std::vector<float> out(static_cast<size_t>(images * y.out() * x.out() * channels), kNan);
  DepthwiseArguments a{};
  set_geometry(y, x, a);
  a.in = in.data();
  a.weights = weights.data();
  a.bias = bias.data();
  a.out = out.data();
  a.n = images;
  a.channels = channels;
  a.low = -0.75f;
  a.high = 0.75f;
  kernels.depthwise(a);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t c = i % channels, ox = i / channels % x.out(),
                  oy = i / channels / x.out() % y.out(), n = i / channels / x.out() / y.out();
    float sum = at(bias, c);
    for_each_tap(y, x, oy, ox, [&](int64_t pixel, int64_t tap) {
      sum += at(in, (n * pixels + pixel) * channels + c) * at(weights, tap * channels + c);
    });
    ASSERT_NEAR(at(out, i), std::clamp(sum, -0.75f, 0.75f), 1e-5)
        << "height " << text_of(y) << ", width " << text_of(x) << ", image " << n << " (" << oy
        << ", " << ox << ") channel " << c;
  }
}

TEST_P(CpuKernelsTest, ConvolveEachChannelUnderWindowsOfAnyGeometry) {
  const Side plain{5, 3, 1, 1, 1, 1};
  for (const Side& side : kSides) {
    expect_depthwise(kernels(), side, side, 2 * kernels().width);
    expect_depthwise(kernels(), plain, side, kernels().width);
    expect_depthwise(kernels(), side, plain, kernels().width);
  }
}

// The last vector of channels overlaps the one before it.
TEST_P(CpuKernelsTest, ConvolveAnyNumberOfChannelsFromOneVectorOn) {
  const Side side{6, 3, 1, 1, 1, 1};
  for (int64_t extra = 0; extra <= kernels().width; ++extra)
    expect_depthwise(kernels(), side, side, kernels().width + extra);
}

TEST_P(CpuKernelsTest, ConvolveWithoutABiasFromZero) {
  const int64_t channels = kernels().width;
  const std::vector<float> in(static_cast<size_t>(channels), 2), weights = in;
  std::vector<float> out(in.size());
  DepthwiseArguments a{};
  set_geometry({1, 1, 1, 1, 0, 0}, {1, 1, 1, 1, 0, 0}, a);
  a.in = in.data();
  a.weights = weights.data();
  a.out = out.data();
  a.n = 1;
  a.channels = channels;
  a.low = -kInfinite;
  a.high = kInfinite;
  kernels().depthwise(a);
  EXPECT_EQ(out, std::vector<float>(in.size(), 4));
}

struct Pooled {
  bool average, count_padding;
};

// How many places the divisor counts along one side: inside the image or its stated padding.
int64_t counted(const Side& s, int64_t o, bool padding) {
  int64_t n = 0;
  for (int64_t k = 0; k < s.kernel; ++k) {
    const int64_t place = s.place(o, k);
    n += padding ? place < s.in + s.pad_end : s.inside(o, k);
  }
  return n;
}

// Channels-last, or plane by plane.
void expect_pooled(const CpuKernels& kernels, const Side& y, const Side& x, int64_t channels,
                   const Pooled& kind, bool planes = false) {
  const int64_t images = 2, pixels = y.in * x.in, out_pixels = y.out() * x.out();
  const auto place = [&](int64_t n, int64_t pixel, int64_t c, int64_t of) {
    return planes ? (n * channels + c) * of + pixel : (n * of + pixel) * channels + c;
  };
  const std::vector<float> in = values(images * pixels * channels);
  std::vector<float> out(static_cast<size_t>(images * y.out() * x.out() * channels), kNan);
  PoolArguments a{};
  set_geometry(y, x, a);
  a.pad_end_h = y.pad_end;
  a.pad_end_w = x.pad_end;
  a.in = in.data();
  a.out = out.data();
  a.n = images;
  a.channels = a.in_pixel = a.out_pixel = channels;
  a.average = kind.average;
  a.count_padding = kind.count_padding;
  a.low = -0.5f;
  a.high = 0.5f;
  planes ? kernels.pool_planes(a) : kernels.pool(a);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t c = i % channels, ox = i / channels % x.out(),
                  oy = i / channels / x.out() % y.out(), n = i / channels / out_pixels;
    float sum = 0, largest = -kInfinite;
    for_each_tap(y, x, oy, ox, [&](int64_t pixel, int64_t) {
      const float v = at(in, place(n, pixel, c, pixels));
      sum += v;
      largest = std::max(largest, v);
    });
    const int64_t count = counted(y, oy, kind.count_padding) * counted(x, ox, kind.count_padding);
    const float expected =
        kind.average ? sum / static_cast<float>(std::max<int64_t>(count, 1)) : largest;
    ASSERT_NEAR(at(out, place(n, oy * x.out() + ox, c, out_pixels)),
                std::clamp(expected, -0.5f, 0.5f), 1e-5)
        << (planes ? "planes, " : "") << "height " << text_of(y) << ", width " << text_of(x)
        << ", image " << n << " (" << oy << ", " << ox << ") channel " << c;
  }
}

TEST_P(CpuKernelsTest, PoolUnderWindowsOfAnyGeometry) {
  const Side plain{5, 3, 2, 1, 1, 1};
  for (const Pooled& kind : {Pooled{false, false}, Pooled{true, false}, Pooled{true, true}}) {
    for (const Side& side : kSides) {
      expect_pooled(kernels(), side, plain, kernels().width + 1, kind);
      expect_pooled(kernels(), plain, side, 5 * kernels().width, kind);
      expect_pooled(kernels(), side, plain, 3, kind, true);
      expect_pooled(kernels(), plain, side, 3, kind, true);
    }
  }
}

TEST_P(CpuKernelsTest, PoolAnyNumberOfChannels) {
  const Side side{4, 2, 2, 1, 0, 0};
  for (int64_t channels = 1; channels <= 6 * kernels().width; ++channels)
    expect_pooled(kernels(), side, side, channels, {true, false});
}

// Overlapping vectors and padding carry nothing from one pixel or channel to another.
TEST_P(CpuKernelsTest, AverageANanOnlyIntoTheWindowsThatHoldIt) {
  const int64_t channels = kernels().width + 3, size = 6;
  std::vector<float> in = values(size * size * channels);
  at(in, (2 * size + 3) * channels + 1) = kNan;
  std::vector<float> out(in.size());
  PoolArguments a{};
  set_geometry({size, 3, 1, 1, 1, 1}, {size, 3, 1, 1, 1, 1}, a);
  a.pad_end_h = a.pad_end_w = 1;
  a.in = in.data();
  a.out = out.data();
  a.n = 1;
  a.channels = a.in_pixel = a.out_pixel = channels;
  a.average = true;
  a.low = -kInfinite;
  a.high = kInfinite;
  kernels().pool(a);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t c = i % channels, x = i / channels % size, y = i / channels / size;
    const bool holds = c == 1 && std::abs(x - 3) <= 1 && std::abs(y - 2) <= 1;
    if (!holds) {
      EXPECT_FALSE(std::isnan(at(out, i))) << y << ", " << x << " channel " << c;
    }
  }
}

}  // namespace
}  // namespace enginery
