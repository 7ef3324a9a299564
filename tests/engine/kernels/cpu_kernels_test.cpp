// Our CPU kernels called directly, for every instruction set that this machine has, against plain
// loops: sizes around each kernel's vectors and pieces, so that no tail is left out.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/cpu/isa/depthwise.h"
#include "engine/kernels/cpu/isa/lrn.h"
#include "engine/kernels/cpu/isa/moving/copy.h"
#include "engine/kernels/cpu/isa/pool.h"
#include "engine/kernels/cpu/isa/products/gemv.h"
#include "engine/kernels/cpu/isa/reduce.h"
#include "engine/kernels/cpu/isa/softmax.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

TEST_P(CpuKernelsTest, HaveTheWidthOfTheirRegisters) {
  const int width = GetParam() >= CpuIsa::avx512 ? 16 : GetParam() >= CpuIsa::avx ? 8 : 4;
  EXPECT_EQ(kernels().width, width);
}

// Rows as long as vectors and longer, and columns; sums and products wrap.
TEST_P(CpuKernelsTest, ReduceIntegersExactly) {
  for (const int64_t size : {1, 3, 40}) {
    std::vector<int64_t> x(static_cast<size_t>(2 * size), INT64_MAX - 5);
    x[0] = -9;
    std::vector<int64_t> rows(2), columns(2);
    const auto reduce = [&](CpuReduction kind) {
      kernels().reduce({x.data(), rows.data(), 2, size, 1, kind, NumberType::int64});
      kernels().reduce({x.data(), columns.data(), 1, size, 2, kind, NumberType::int64});
    };
    const auto wrapped_sum = [&](bool with_nine, int64_t others) {
      const uint64_t sum = static_cast<uint64_t>(others) * static_cast<uint64_t>(INT64_MAX - 5);
      return static_cast<int64_t>(with_nine ? sum - 9 : sum);
    };
    reduce(CpuReduction::sum);
    EXPECT_EQ(rows, (std::vector{wrapped_sum(true, size - 1), wrapped_sum(false, size)})) << size;
    EXPECT_EQ(columns, rows) << size;
    reduce(CpuReduction::min);
    EXPECT_EQ(rows, (std::vector<int64_t>{-9, INT64_MAX - 5})) << size;
    EXPECT_EQ(columns, rows) << size;
    reduce(CpuReduction::max);
    EXPECT_EQ(rows, (std::vector<int64_t>{size == 1 ? -9 : INT64_MAX - 5, INT64_MAX - 5})) << size;
    EXPECT_EQ(columns, rows) << size;
  }
  const std::vector<int32_t> x{3, -7, 11, 1 << 20, 1 << 20, 1};
  std::vector<int32_t> out(2);
  kernels().reduce({x.data(), out.data(), 2, 3, 1, CpuReduction::prod, NumberType::int32});
  EXPECT_EQ(out, (std::vector<int32_t>{-231, 0}));
}

TEST_P(CpuKernelsTest, ReduceRowsOfAnyLength) {
  for (int64_t size = 1; size <= 70; ++size) {
    const std::vector<float> in = values(3 * size);
    for (const CpuReduction kind : {CpuReduction::sum, CpuReduction::mean, CpuReduction::max,
                                    CpuReduction::min, CpuReduction::sum_square, CpuReduction::l1,
                                    CpuReduction::prod, CpuReduction::log_sum_exp}) {
      std::vector<float> out(3);
      kernels().reduce({in.data(), out.data(), 3, size, 1, kind});
      for (int64_t o = 0; o < 3; ++o) {
        double sum = 0, squares = 0, sizes = 0, product = 1, powers = 0, low = kInfinite,
               high = -kInfinite;
        for (int64_t s = 0; s < size; ++s) {
          const double x = at(in, o * size + s);
          sum += x;
          squares += x * x;
          sizes += std::abs(x);
          product *= x;
          powers += std::exp(x);
          low = std::min(low, x);
          high = std::max(high, x);
        }
        const double expected = kind == CpuReduction::sum          ? sum
                                : kind == CpuReduction::mean       ? sum / static_cast<double>(size)
                                : kind == CpuReduction::max        ? high
                                : kind == CpuReduction::sum_square ? squares
                                : kind == CpuReduction::l1         ? sizes
                                : kind == CpuReduction::prod       ? product
                                : kind == CpuReduction::log_sum_exp ? std::log(powers)
                                                                    : low;
        EXPECT_NEAR(at(out, o), expected, 1e-5) << "size " << size;
      }
    }
  }
}

TEST_P(CpuKernelsTest, ReduceColumnsOfAnyNumber) {
  for (const int64_t inner : {2, 3, 17, 63, 64, 65, 130}) {
    const int64_t size = 5;
    const std::vector<float> in = values(2 * size * inner);
    std::vector<float> out(static_cast<size_t>(2 * inner));
    kernels().reduce({in.data(), out.data(), 2, size, inner, CpuReduction::sum});
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        float sum = 0;
        for (int64_t s = 0; s < size; ++s) sum += at(in, (o * size + s) * inner + i);
        EXPECT_NEAR(at(out, o * inner + i), sum, 1e-5) << "inner " << inner << " column " << i;
      }
    }
  }
}

// In rows and in columns: neither what is infinite nor what e^x overflows at makes NaN.
TEST_P(CpuKernelsTest, LogSumExpOfLargeAndInfiniteNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> first{1000, -kInf, kInf, -kInf, kNan}, second{1000, -kInf, 1, 3, 1};
  const std::vector<float> expected{1000 + std::log(2.0f), -kInf, kInf, 3, kNan};
  std::vector<float> columns = first, rows, of_rows(5), of_columns(5);
  columns.insert(columns.end(), second.begin(), second.end());
  for (size_t i = 0; i < 5; ++i) rows.insert(rows.end(), {first[i], second[i]});
  kernels().reduce({rows.data(), of_rows.data(), 5, 2, 1, CpuReduction::log_sum_exp});
  kernels().reduce({columns.data(), of_columns.data(), 1, 2, 5, CpuReduction::log_sum_exp});
  for (size_t i = 0; i < 5; ++i) {
    for (const float v : {of_rows[i], of_columns[i]}) {
      EXPECT_EQ(std::isnan(v), std::isnan(expected[i])) << i;
      EXPECT_TRUE(std::isnan(v) || v == expected[i]) << i << ": " << v;
    }
  }
}

TEST_P(CpuKernelsTest, CopyElementsOfAnySizeWithAnyStrides) {
  for (const int bytes : {1, 2, 4, 8}) {
    std::vector<uint8_t> in(static_cast<size_t>(37 * 41 * bytes)), out(in.size(), 0xee);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * 7 + i / 251);
    CopyArguments a{};  // a transposition
    a.in = in.data();
    a.out = out.data();
    a.element_bytes = bytes;
    a.loops = 2;
    a.loop[0] = {41, 1, 37};
    a.loop[1] = {37, 41, 1};
    kernels().copy(a);
    const auto element = [&](const std::vector<uint8_t>& v, int index) {
      const auto begin = v.begin() + index * bytes;
      return std::vector<uint8_t>(begin, begin + bytes);
    };
    for (int r = 0; r < 37; ++r) {
      for (int c = 0; c < 41; ++c)
        ASSERT_EQ(element(out, c * 37 + r), element(in, r * 41 + c)) << bytes << " bytes";
    }
  }
}

// Rows under outer loops whose long one is the first, in the middle, the last, or none.
TEST_P(CpuKernelsTest, CopyRowsUnderLoopsOfAnyLength) {
  for (const auto& [a, b, c] :
       {std::tuple{3, 9, 2}, {17, 2, 1}, {2, 3, 12}, {2, 3, 4}, {9, 1, 8}}) {
    const int64_t n = 5, rows = n + 1;  // of the output, with a gap behind each
    const std::vector<float> in = values(a * b * c * n);
    std::vector<float> out(static_cast<size_t>(a * b * c * rows), -1.0f);
    CopyArguments copy{in.data(), out.data(), 4, 4, {}};
    copy.loop[0] = {a, n, b * c * rows};  // the input lies as [c][b][a][n]
    copy.loop[1] = {b, a * n, c * rows};
    copy.loop[2] = {c, a * b * n, rows};
    copy.loop[3] = {n, 1, 1};
    kernels().copy(copy);
    for (int64_t i = 0; i < a; ++i) {
      for (int64_t j = 0; j < b; ++j) {
        for (int64_t k = 0; k < c; ++k) {
          const int64_t to = ((i * b + j) * c + k) * rows, from = ((k * b + j) * a + i) * n;
          for (int64_t e = 0; e < n; ++e) ASSERT_EQ(at(out, to + e), at(in, from + e));
          ASSERT_EQ(at(out, to + n), -1.0f);
        }
      }
    }
  }
}

TEST_P(CpuKernelsTest, SoftmaxAnyExtents) {
  for (const int64_t size : {1, 2, 7, 21, 33, 100}) {
    for (const int64_t inner : {1, 3, 20}) {
      const std::vector<float> in = values(2 * size * inner);
      std::vector<float> out(in.size()), log(in.size());
      kernels().softmax({in.data(), out.data(), 2, size, inner, false});
      kernels().softmax({in.data(), log.data(), 2, size, inner, true});
      for (int64_t o = 0; o < 2; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          double sum = 0;
          for (int64_t s = 0; s < size; ++s) sum += std::exp(at(in, (o * size + s) * inner + i));
          for (int64_t s = 0; s < size; ++s) {
            const int64_t index = (o * size + s) * inner + i;
            EXPECT_NEAR(at(out, index), std::exp(at(in, index)) / sum, 1e-5);
            EXPECT_NEAR(at(log, index), at(in, index) - std::log(sum), 1e-5);
          }
        }
      }
    }
  }
}

TEST_P(CpuKernelsTest, MultiplyFewRowsByAnyNumberOfColumns) {
  for (const int64_t n : {1, 3, 4, 5, 9}) {
    for (const int64_t k : {1, 7, 31, 32, 33, 65}) {
      const int64_t m = 3;
      const std::vector<float> x = values(m * k, 1), w = values(n * k, 2), bias = values(n, 3);
      std::vector<float> y(static_cast<size_t>(m * n));
      GemvArguments a{x.data(), w.data(), bias.data(), y.data(), m, n, k, -0.5f, 0.5f};
      kernels().gemv(a);
      for (int64_t r = 0; r < m; ++r) {
        for (int64_t c = 0; c < n; ++c) {
          float sum = at(bias, c);
          for (int64_t i = 0; i < k; ++i) sum += at(x, r * k + i) * at(w, c * k + i);
          EXPECT_NEAR(at(y, r * n + c), std::clamp(sum, -0.5f, 0.5f), 1e-4) << n << "x" << k;
        }
      }
    }
  }
}

TEST_P(CpuKernelsTest, NormalizeAcrossNeighbouringChannels) {
  for (const int64_t channels : {1, 4, 17, 40, 300}) {
    for (const int64_t size : {1, 3, 5}) {
      const std::vector<float> in = values(2 * channels);
      std::vector<float> out(in.size());
      kernels().lrn({in.data(), out.data(), 2, channels, size, 0.5f, 0.75f, 1.0f});
      for (int64_t i = 0; i < 2 * channels; ++i) {
        const int64_t pixel = i / channels, c = i % channels;
        double squares = 0;
        for (int64_t n = c - (size - 1) / 2; n < c - (size - 1) / 2 + size; ++n) {
          if (n >= 0 && n < channels) squares += std::pow(at(in, pixel * channels + n), 2);
        }
        const double scale = 1 + 0.5 / static_cast<double>(size) * squares;
        EXPECT_NEAR(at(out, i), at(in, i) / std::pow(scale, 0.75), 1e-5) << channels << " " << size;
      }
    }
  }
}

// One channels-last image [height, width, channels] under 3x3 windows with a border of one.
struct Image {
  int64_t h = 5, w = 6, channels = 0;
  std::vector<float> pixels;
  // 0 outside the image.
  float get(int64_t y, int64_t x, int64_t c) const {
    const bool inside = y >= 0 && y < h && x >= 0 && x < w;
    return inside ? at(pixels, (y * w + x) * channels + c) : 0;
  }
};

TEST_P(CpuKernelsTest, ConvolveEachChannelByItself) {
  for (const int64_t channels : {16, 17, 24, 33, 50}) {
    const Image image{5, 6, channels, values(30 * channels, 1)};
    const std::vector<float> weights = values(9 * channels, 2), bias = values(channels, 3);
    std::vector<float> out(static_cast<size_t>(30 * channels));
    DepthwiseArguments a{};
    a.in = image.pixels.data();
    a.weights = weights.data();
    a.bias = bias.data();
    a.out = out.data();
    a.n = 1;
    a.channels = channels;
    a.in_h = a.out_h = 5;
    a.in_w = a.out_w = 6;
    a.kernel_h = a.kernel_w = 3;
    a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = a.pad_h = a.pad_w = 1;
    a.low = 0;
    a.high = kInfinite;
    kernels().depthwise(a);
    for (int64_t i = 0; i < 30 * channels; ++i) {
      const int64_t c = i % channels, x = i / channels % 6, y = i / channels / 6;
      float sum = at(bias, c);
      for (int64_t t = 0; t < 9; ++t)
        sum += image.get(y + t / 3 - 1, x + t % 3 - 1, c) * at(weights, t * channels + c);
      EXPECT_NEAR(at(out, i), std::max(sum, 0.0f), 1e-5) << channels << " channels, " << i;
    }
  }
}

TEST_P(CpuKernelsTest, PoolWithAndWithoutThePadding) {
  for (const int64_t channels : {1, 8, 19}) {
    const Image image{5, 6, channels, values(30 * channels)};
    for (const bool counts : {false, true}) {
      std::vector<float> out(image.pixels.size()), largest(image.pixels.size());
      PoolArguments a{};
      a.in = image.pixels.data();
      a.out = out.data();
      a.n = 1;
      a.channels = a.in_pixel = a.out_pixel = channels;
      a.in_h = a.out_h = 5;
      a.in_w = a.out_w = 6;
      a.kernel_h = a.kernel_w = 3;
      a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
      a.pad_h = a.pad_w = a.pad_end_h = a.pad_end_w = 1;
      a.average = true;
      a.count_padding = counts;
      a.low = -kInfinite;
      a.high = kInfinite;
      kernels().pool(a);
      a.average = false;
      a.out = largest.data();
      kernels().pool(a);
      for (int64_t i = 0; i < 30 * channels; ++i) {
        const int64_t c = i % channels, x = i / channels % 6, y = i / channels / 6;
        float sum = 0, high = -kInfinite;
        int inside = 0;
        for (int64_t t = 0; t < 9; ++t) {
          const int64_t at_y = y + t / 3 - 1, at_x = x + t % 3 - 1;
          if (at_y < 0 || at_y >= 5 || at_x < 0 || at_x >= 6) continue;
          sum += image.get(at_y, at_x, c);
          high = std::max(high, image.get(at_y, at_x, c));
          ++inside;
        }
        EXPECT_NEAR(at(out, i), sum / static_cast<float>(counts ? 9 : inside), 1e-5);
        EXPECT_EQ(at(largest, i), high);
      }
    }
  }
}

// Planes are pooled in pieces of a row, whose windows reach over into the next one's columns.
TEST_P(CpuKernelsTest, PoolPlanesOfLongRows) {
  constexpr int64_t kWidth = 5003, kPlanes = 2;
  const std::vector<float> in = values(kPlanes * 2 * kWidth);
  for (const int64_t stride : {1, 2, 3}) {
    const int64_t out_w = (kWidth + 2 - 3) / stride + 1;
    std::vector<float> sums(static_cast<size_t>(kPlanes * out_w)), largest = sums;
    PoolArguments a{};
    a.in = in.data();
    a.n = 1;
    a.channels = kPlanes;
    a.in_h = a.kernel_h = 2;
    a.out_h = 1;
    a.in_w = kWidth;
    a.out_w = out_w;
    a.kernel_w = 3;
    a.stride_h = a.dilation_h = a.dilation_w = a.pad_w = a.pad_end_w = 1;
    a.stride_w = stride;
    a.low = -kInfinite;
    a.high = kInfinite;
    a.out = largest.data();
    kernels().pool_planes(a);
    a.average = true;
    a.out = sums.data();
    kernels().pool_planes(a);
    for (int64_t i = 0; i < kPlanes * out_w; ++i) {
      const int64_t plane = i / out_w, x = i % out_w * stride - 1;
      float sum = 0, high = -kInfinite;
      int inside = 0;
      for (int64_t t = 0; t < 6; ++t) {
        if (x + t % 3 < 0 || x + t % 3 >= kWidth) continue;
        const float v = at(in, (plane * 2 + t / 3) * kWidth + x + t % 3);
        sum += v;
        high = std::max(high, v);
        ++inside;
      }
      ASSERT_NEAR(at(sums, i), sum / static_cast<float>(inside), 1e-5) << stride << ": " << i;
      ASSERT_EQ(at(largest, i), high) << stride << ": " << i;
    }
  }
}

// Of every file of this program.
INSTANTIATE_TEST_SUITE_P(Isas, CpuKernelsTest, testing::ValuesIn(isas_here()), isa_name);

}  // namespace
}  // namespace enginery
