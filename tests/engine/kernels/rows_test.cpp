// CPU kernels that work on rows, normalisation, gather, choice, places of extremes, resampling,
// called directly against plain loops.
#include <cmath>

#include "engine/kernels/cpu/isa/arg_extreme.h"
#include "engine/kernels/cpu/isa/moving/gather.h"
#include "engine/kernels/cpu/isa/moving/select.h"
#include "engine/kernels/cpu/isa/normalize.h"
#include "engine/kernels/cpu/isa/resample.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

// Element i of row r takes scale and bias at r % period * step + i / each.
void expect_normalized(const NormalizeArguments& a) {
  for (int64_t r = 0; r < a.rows; ++r) {
    const float* x = a.in + r * a.size;
    double mean = 0, variance = 0;
    for (int64_t i = 0; a.centred && i < a.size; ++i) mean += x[i] / static_cast<double>(a.size);
    for (int64_t i = 0; i < a.size; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(a.size);
    for (int64_t i = 0; i < a.size; ++i) {
      const int64_t place = r % a.period * a.step + i / a.each;
      double y = (x[i] - mean) / std::sqrt(variance + a.epsilon) * a.scale[place];
      y = std::clamp<double>(y + (a.bias ? a.bias[place] : 0), a.low, a.high);
      ASSERT_NEAR(a.out[r * a.size + i], y, 2e-5) << "size " << a.size << " row " << r;
    }
  }
}

TEST_P(CpuKernelsTest, NormalizesRowsOfAnyLength) {
  for (const int64_t size : {1, 2, 7, 15, 16, 17, 33, 768, 4095, 4096, 4097, 9000}) {
    const std::vector<float> x = values(3 * size, 1), scale = values(size, 2),
                             bias = values(size, 3);
    std::vector<float> out(x.size());
    NormalizeArguments a{};
    a.in = x.data();
    a.scale = scale.data();
    a.out = out.data();
    a.rows = 3;
    a.size = size;
    a.period = a.each = 1;
    a.epsilon = 0.125f;
    a.low = -kInfinite;
    a.high = kInfinite;
    for (const bool centred : {true, false}) {
      a.centred = centred;
      a.bias = centred ? bias.data() : nullptr;
      kernels().normalize(a);
      expect_normalized(a);
    }
  }
}

TEST_P(CpuKernelsTest, NormalizesGroupsOfChannels) {
  constexpr int64_t kGroups = 3, kChannels = 2, kPlane = 21;
  const std::vector<float> x = values(2 * kGroups * kChannels * kPlane, 1),
                           scale = values(kGroups * kChannels, 2),
                           bias = values(kGroups * kChannels, 3);
  std::vector<float> out(x.size());
  const NormalizeArguments a{
      x.data(), scale.data(), bias.data(), out.data(), 2 * kGroups, kChannels * kPlane,
      kGroups,  kChannels,    kPlane,      1e-3f,      0.0f,        kInfinite,
      true};
  kernels().normalize(a);
  expect_normalized(a);
}

// A sum of squares less the square of a sum would leave nothing of this variance.
TEST_P(CpuKernelsTest, NormalizesSmallDifferencesOfLargeNumbers) {
  std::vector<float> x(64), scale(64, 1), out(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 4096.0f + (i % 2 ? 0.25f : -0.25f);
  NormalizeArguments a{};
  a.in = x.data();
  a.scale = scale.data();
  a.out = out.data();
  a.rows = a.period = a.each = 1;
  a.size = 64;
  a.low = -kInfinite;
  a.high = kInfinite;
  a.centred = true;
  kernels().normalize(a);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(out[i], i % 2 ? 1 : -1, 1e-5);
}

TEST_P(CpuKernelsTest, GatherRowsOfAnyLength) {
  const std::vector<int64_t> wide{4, 0, -1, 2, -5, 99, -99};
  const std::vector<int32_t> narrow(wide.begin(), wide.end());
  const std::vector<int64_t> places{4, 0, 4, 2, 0, 4, 0};  // outside: the nearest
  for (const int64_t inner : {1, 2, 3, 16, 100}) {
    const std::vector<float> x = values(2 * 5 * inner);
    std::vector<float> out(2 * wide.size() * static_cast<size_t>(inner));
    for (const bool is_wide : {true, false}) {
      const void* indices = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
      kernels().gather({x.data(), indices, out.data(), 2, 5, 7, inner * 4, is_wide});
      for (int64_t row = 0; row < 14; ++row) {
        for (int64_t i = 0; i < inner; ++i)
          ASSERT_EQ(at(out, row * inner + i),
                    at(x, (row / 7 * 5 + places[static_cast<size_t>(row % 7)]) * inner + i))
              << "inner " << inner << " row " << row;
      }
    }
  }
}

TEST_P(CpuKernelsTest, ChooseBetweenOperandsThatRepeat) {
  constexpr int64_t kRows = 3, kLength = 4100;
  const std::vector<float> a = values(kRows * kLength, 1), b = values(kRows, 2);
  std::vector<uint8_t> condition(static_cast<size_t>(kLength));
  for (size_t i = 0; i < condition.size(); ++i) condition[i] = i % 3 == 0;
  std::vector<float> out(a.size());
  SelectArguments s{condition.data(), a.data(), b.data(), out.data(), 4, {2, {kRows, kLength}, {}}};
  s.over.stride[0][1] = 1;  // the condition repeats over rows, b along them
  s.over.stride[1][0] = kLength;
  s.over.stride[1][1] = 1;
  s.over.stride[2][0] = 1;
  kernels().select(s);
  for (int64_t i = 0; i < kRows * kLength; ++i)
    ASSERT_EQ(at(out, i), i % kLength % 3 == 0 ? at(a, i) : at(b, i / kLength)) << i;
}

TEST_P(CpuKernelsTest, FindExtremesInRowsAndColumns) {
  for (const int64_t inner : {1, 5, 64, 70}) {
    constexpr int64_t kSize = 9;
    std::vector<float> x = values(2 * kSize * inner);
    for (float& v : x) v = std::round(v * 3);  // with equal ones
    for (const bool largest : {true, false}) {
      for (const bool last : {true, false}) {
        std::vector<int64_t> out(static_cast<size_t>(2 * inner));
        kernels().arg_extreme({x.data(), out.data(), 2, kSize, inner, largest, last});
        for (int64_t lane = 0; lane < 2 * inner; ++lane) {
          const auto value = [&](int64_t s) {
            return at(x, (lane / inner * kSize + s) * inner + lane % inner);
          };
          int64_t best = 0;
          for (int64_t s = 1; s < kSize; ++s) {
            const bool beats = largest ? value(s) > value(best) : value(s) < value(best);
            if (beats || (last && value(s) == value(best))) best = s;
          }
          ASSERT_EQ(out[static_cast<size_t>(lane)], best) << "inner " << inner << " lane " << lane;
        }
      }
    }
  }
}

TEST_P(CpuKernelsTest, ResampleByTapsAndFillWhereThereAreNone) {
  // Outputs: x[2], nothing, x[0] / 4 + x[1] / 2.
  const std::vector<int32_t> first{0, 1, 1, 3}, taps{2, 0, 1};
  const std::vector<float> weight{1, 0.25f, 0.5f};
  for (const int64_t inner : {1, 3, 40}) {
    const std::vector<float> x = values(2 * 3 * inner);
    std::vector<float> out(x.size());
    kernels().resample(
        {x.data(), out.data(), 2, 3, 3, inner, first.data(), taps.data(), weight.data(), 7.5f});
    for (int64_t o = 0; o < 2; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        const auto in = [&](int64_t s) { return at(x, (o * 3 + s) * inner + i); };
        const auto result = [&](int64_t s) { return at(out, (o * 3 + s) * inner + i); };
        EXPECT_EQ(result(0), in(2));
        EXPECT_EQ(result(1), 7.5f);
        EXPECT_FLOAT_EQ(result(2), in(0) / 4 + in(1) / 2);
      }
    }
  }
}

}  // namespace
}  // namespace enginery
