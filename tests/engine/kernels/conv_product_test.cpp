// The 1x1 convolution kernel against its definition: every width of its tiles and panels, inputs
// that it reads in place and inputs that it packs, outputs in either layout.
#include "engine/kernels/cpu/isa/products/conv_product.h"

#include <omp.h>

#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

// A product of [groups, pixels, in] by [in, out], channels last on both sides.
struct Product {
  int64_t groups, pixels, in, out;
};

// Its operands and arguments. Blocked sides lie vector by vector: [groups][vector][pixel][lane].
class ConvProduct {
 public:
  ConvProduct(const CpuKernels& kernels, const Product& p) : kernels_(kernels), p_(p) {
    const int64_t panel = 2 * kernels.width, panels = (p.out + panel - 1) / panel;
    x = values(p.groups * p.pixels * p.in, 1);
    w = values(p.in * p.out, 2);
    bias = values(p.out, 3);
    packed_weights_.assign(static_cast<size_t>(panels * p.in * panel), 0.0f);
    packed_bias_.assign(static_cast<size_t>(panels * panel), 0.0f);
    y.assign(static_cast<size_t>(p.groups * p.pixels * p.out), -77.0f);
    const int64_t padded = (p.in + kernels.width - 1) / kernels.width * kernels.width;
    a.groups = p.groups;
    a.pixels = p.pixels;
    a.depth = p.in;
    a.channels_out = p.out;
    a.in_group = p.in * p.pixels;
    a.in_chunk = kernels.width;
    a.in_pixel = p.in;
    a.in_row_pixels = p.pixels;
    a.out_group = p.out * p.pixels;
    a.out_pixel = p.out;
    a.out_vector = kernels.width;
    a.block_pixels = 5;
    a.packs = true;
    a.scratch_floats = std::min(a.block_pixels, p.pixels) * padded;
    a.low = -kInfinite;
    a.high = kInfinite;
  }

  void run() {
    const int64_t panel = 2 * kernels_.width;
    for (int64_t n = 0; n < p_.out; ++n) {
      at(packed_bias_, n) = at(bias, n);
      for (int64_t c = 0; c < p_.in; ++c)
        at(packed_weights_, (n / panel * p_.in + c) * panel + n % panel) = at(w, c * p_.out + n);
    }
    std::vector<float> scratch(
        static_cast<size_t>(std::max<int64_t>(a.scratch_floats * omp_get_max_threads(), 1)), kNan);
    a.in = x.data();
    a.weights = packed_weights_.data();
    a.bias = packed_bias_.data();
    a.residual = in_place ? y.data() : residual.empty() ? nullptr : residual.data();
    a.out = y.data();
    a.scratch = scratch.data();
    kernels_.conv_product(a);
  }

  float expected(int64_t pixel, int64_t n) const {
    double sum = at(bias, n);
    for (int64_t c = 0; c < p_.in; ++c) sum += at(x, pixel * p_.in + c) * at(w, c * p_.out + n);
    if (!residual.empty()) sum += at(residual, pixel * p_.out + n);
    return std::clamp(static_cast<float>(sum), a.low, a.high);
  }
  // Pixels of all groups, channels last.
  void expect_right(const std::vector<float>& actual) const {
    for (int64_t i = 0; i < p_.groups * p_.pixels; ++i) {
      for (int64_t n = 0; n < p_.out; ++n)
        ASSERT_NEAR(at(actual, i * p_.out + n), expected(i, n), 1e-4)
            << p_.groups << "x" << p_.pixels << " pixels of " << p_.in << " to " << p_.out
            << " channels: pixel " << i << " channel " << n;
    }
  }

  ConvProductArguments a{};
  std::vector<float> x, w, bias, residual, y;
  bool in_place = false;  // the residual is what `y` holds

 private:
  const CpuKernels& kernels_;
  const Product p_;
  std::vector<float> packed_weights_, packed_bias_;
};

// [groups][pixels][channels] as [groups][channels / width][pixels][width].
std::vector<float> blocked(const std::vector<float>& last, int64_t groups, int64_t pixels,
                           int64_t channels, int64_t width) {
  std::vector<float> out(last.size());
  for (int64_t i = 0; i < groups * pixels; ++i) {
    for (int64_t c = 0; c < channels; ++c)
      at(out, ((i / pixels * (channels / width) + c / width) * pixels + i % pixels) * width +
                  c % width) = at(last, i * channels + c);
  }
  return out;
}

TEST_P(CpuKernelsTest, MultiplyPixelsByChannelsOfAnyNumber) {
  const int64_t width = kernels().width;
  for (const int64_t out : {int64_t{1}, width - 1, width, width + 1, 2 * width, 2 * width + 3}) {
    for (const int64_t in : {int64_t{1}, width, width + 1}) {
      for (const int64_t pixels : {1, 6, 7, 14, 15, 29}) {
        ConvProduct product(kernels(), {1, pixels, in, out});
        product.run();
        product.expect_right(product.y);
      }
    }
  }
}

TEST_P(CpuKernelsTest, MultiplyPixelsOfSeveralGroupsInBlocksOfAnySize) {
  for (const int64_t block : {1, 4, 13, 100}) {
    ConvProduct product(kernels(), {3, 13, 19, 37});
    product.a.block_pixels = block;
    product.a.scratch_floats = std::min<int64_t>(block, 13) * 32;
    product.run();
    product.expect_right(product.y);
  }
}

// Enough work to be divided among threads, along pixels or along panels.
TEST_P(CpuKernelsTest, MultiplyTheSameWithAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const Product& shape : {Product{2, 50, 40, 70}, Product{1, 3, 150, 600}}) {
    for (const int threads : {1, 2, 3}) {
      omp_set_num_threads(threads);
      ConvProduct product(kernels(), shape);
      product.run();
      product.expect_right(product.y);
    }
  }
  omp_set_num_threads(before);
}

TEST_P(CpuKernelsTest, MultiplyThenAddTheResidualThenClip) {
  ConvProduct product(kernels(), {2, 9, 8, 21});
  product.residual = values(2 * 9 * 21, 4);
  product.a.low = -0.25f;
  product.a.high = 0.5f;
  product.run();
  product.expect_right(product.y);
}

// The residual may be the output's own storage: each element is read before it is written.
TEST_P(CpuKernelsTest, AddAResidualInTheOutputsPlace) {
  const int64_t out = 2 * kernels().width + 3;
  ConvProduct product(kernels(), {1, 15, 8, out});
  product.y = values(15 * out, 4);
  const std::vector<float> before = product.y;
  product.in_place = true;
  product.run();
  product.residual = before;
  product.expect_right(product.y);
}

TEST_P(CpuKernelsTest, ReadBlockedInputsInPlaceAndWriteBlockedOutputs) {
  const int64_t width = kernels().width, in = 2 * width, out = 3 * width, pixels = 17;
  ConvProduct product(kernels(), {2, pixels, in, out});
  const std::vector<float> last = product.x;
  product.x = blocked(last, 2, pixels, in, width);
  product.a.in_chunk = width * pixels;
  product.a.packs = false;
  product.a.scratch_floats = 0;
  product.a.out_pixel = width;
  product.a.out_vector = width * pixels;
  product.run();
  const std::vector<float> actual = product.y;
  product.x = last;
  std::vector<float> expected(actual.size());
  for (int64_t i = 0; i < 2 * pixels; ++i) {
    for (int64_t n = 0; n < out; ++n) at(expected, i * out + n) = product.expected(i, n);
  }
  const std::vector<float> wanted = blocked(expected, 2, pixels, out, width);
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], 1e-4) << i;
}

// A stride of two: the pixels of a row lie two apart, rows two rows apart.
TEST_P(CpuKernelsTest, PackThePixelsThatAStrideLeaves) {
  const int64_t h = 7, w = 9, c = 11, out_h = 4, out_w = 5;
  ConvProduct product(kernels(), {1, out_h * out_w, c, 20});
  const std::vector<float> image = values(h * w * c, 9);
  std::vector<float> taken;
  for (int64_t p = 0; p < out_h * out_w; ++p) {
    const int64_t from = (p / out_w * 2 * w + p % out_w * 2) * c;
    taken.insert(taken.end(), image.begin() + from, image.begin() + from + c);
  }
  product.x = image;
  product.a.in_pixel = 2 * c;
  product.a.in_row = 2 * w * c;
  product.a.in_row_pixels = out_w;
  product.run();
  product.x = taken;
  product.expect_right(product.y);
}

// Scratch that no input filled, and lanes beyond the last channel, add nothing to a neighbour.
TEST_P(CpuKernelsTest, KeepANanInItsOwnPixel) {
  ConvProduct product(kernels(), {1, 31, 19, 21});
  at(product.x, 12 * 19 + 18) = kNan;
  product.run();
  for (int64_t i = 0; i < 31; ++i) {
    for (int64_t n = 0; n < 21 && i != 12; ++n)
      ASSERT_NEAR(at(product.y, i * 21 + n), product.expected(i, n), 1e-4) << "pixel " << i;
  }
}

}  // namespace
}  // namespace enginery
