// The kernels of comparisons, integers, running sums, the largest k and elements by index, on every
// instruction set of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/kernels/cpu/isa/discrete.h"
#include "engine/kernels/cpu/isa/scan.h"
#include "engine/kernels/cpu/isa/top_k.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

// One loop over the elements of both operands; a single element repeats.
template <typename T>
DiscreteArguments over_one_row(const std::vector<T>& a, const std::vector<T>& b, void* out) {
  DiscreteArguments s{};
  s.a = a.data();
  s.b = b.data();
  s.out = out;
  s.over.loops = 1;
  s.over.extent[0] = static_cast<int64_t>(a.size());
  s.over.stride[0][0] = 1;
  s.over.stride[1][0] = b.size() == 1 ? 0 : 1;
  return s;
}

TEST_P(CpuKernelsTest, CompareNanAsUnequalToEverything) {
  std::vector<float> a = values(4133, 1);
  const std::vector<float> zero{0};
  a[7] = std::nanf("");
  std::vector<uint8_t> out(a.size());
  for (const auto function : {DiscreteFunction::equal, DiscreteFunction::not_equal,
                              DiscreteFunction::less, DiscreteFunction::less_equal}) {
    DiscreteArguments s = over_one_row(a, zero, out.data());
    s.function = function;
    s.type = DiscreteType::float32;
    kernels().discrete(s);
    for (size_t i = 0; i < a.size(); ++i) {
      const bool expected = function == DiscreteFunction::equal       ? a[i] == 0
                            : function == DiscreteFunction::not_equal ? a[i] != 0
                            : function == DiscreteFunction::less      ? a[i] < 0
                                                                      : a[i] <= 0;
      ASSERT_EQ(out[i], expected) << i;
    }
  }
}

TEST_P(CpuKernelsTest, WrapIntegersOfEveryWidth) {
  const std::vector<int16_t> a{INT16_MAX, INT16_MIN, -3, 300}, b{1, -1, 7, 300};
  std::vector<int16_t> out(a.size());
  DiscreteArguments s = over_one_row(a, b, out.data());
  s.type = DiscreteType::int16;
  s.function = DiscreteFunction::add;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int16_t>{INT16_MIN, INT16_MAX, 4, 600}));
  s.function = DiscreteFunction::mul;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int16_t>{INT16_MAX, INT16_MIN, -21, 24464}));
  s.function = DiscreteFunction::min;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int16_t>{1, INT16_MIN, -3, 300}));
  s.function = DiscreteFunction::distance;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int16_t>{INT16_MAX - 1, INT16_MAX, 10, 0}));
  s.function = DiscreteFunction::comparison;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int16_t>{1, -1, -1, 0}));
}

TEST_P(CpuKernelsTest, DivideIntegersOfEitherSign) {
  const std::vector<int32_t> a{7, -7, 7, -7, INT32_MIN, INT32_MIN}, b{3, 3, -3, -3, -1, 3};
  std::vector<int32_t> out(a.size());
  DiscreteArguments s = over_one_row(a, b, out.data());
  s.type = DiscreteType::int32;
  s.function = DiscreteFunction::quotient;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int32_t>{2, -2, -2, 2, INT32_MIN, -715827882}));
  s.function = DiscreteFunction::remainder;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int32_t>{1, -1, 1, -1, 0, -2}));
  s.function = DiscreteFunction::modulus;
  kernels().discrete(s);
  EXPECT_EQ(out, (std::vector<int32_t>{1, 2, -2, -1, 0, 1}));

  const std::vector<uint8_t> bytes{255, 200, 7}, divisors{255, 16, 8};
  std::vector<uint8_t> results(bytes.size());
  DiscreteArguments u = over_one_row(bytes, divisors, results.data());
  u.type = DiscreteType::uint8;
  u.function = DiscreteFunction::quotient;
  kernels().discrete(u);
  EXPECT_EQ(results, (std::vector<uint8_t>{1, 12, 0}));
  u.function = DiscreteFunction::modulus;
  kernels().discrete(u);
  EXPECT_EQ(results, (std::vector<uint8_t>{0, 8, 7}));
}

TEST_P(CpuKernelsTest, AddUpRowsAndColumnsBothWays) {
  constexpr int64_t kSize = 9;
  for (const int64_t inner : {1, 5, 64, 70}) {
    const std::vector<float> x = values(2 * kSize * inner);
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        std::vector<float> out(x.size());
        kernels().scan(
            {x.data(), out.data(), 2, kSize, inner, NumberType::float32, exclusive, reverse});
        for (int64_t lane = 0; lane < 2 * inner; ++lane) {
          double sum = 0;
          for (int64_t step = 0; step < kSize; ++step) {
            const int64_t i = reverse ? kSize - 1 - step : step,
                          place = (lane / inner * kSize + i) * inner + lane % inner;
            const double before = sum;
            sum += static_cast<double>(at(x, place));
            ASSERT_NEAR(at(out, place), exclusive ? before : sum, 1e-6) << inner << " " << place;
          }
        }
      }
    }
  }
}

// The order of 300 elements that lie `inner` apart.
std::vector<int64_t> places_by_rank(const std::vector<float>& x, int64_t inner, bool largest) {
  std::vector<int64_t> order(300);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int64_t i, int64_t j) {
    const float a = at(x, (largest ? j : i) * inner), b = at(x, (largest ? i : j) * inner);
    return a < b || (std::isnan(b) && !std::isnan(a));
  });
  return order;
}

// Few of many are looked for by blocks, many of them are not.
TEST_P(CpuKernelsTest, SortTheLargestWithTheFirstOfEqualOnesFirst) {
  constexpr int64_t kSize = 300;
  for (const int64_t inner : {1, 3}) {
    std::vector<float> x = values(kSize * inner);
    for (float& v : x) v = std::round(v * 4);  // with equal ones, and zeros of both signs
    at(x, 17 * inner) = kNan;
    for (const bool largest : {true, false}) {
      const auto order = places_by_rank(x, inner, largest);
      for (const int64_t k : {1, 7, 12, 13, 299, 300}) {
        std::vector<float> best(static_cast<size_t>(k * inner));
        std::vector<int64_t> places(best.size()), scratch(5 * kSize);
        TopKArguments a{x.data(),          best.data(), places.data(),  1, kSize, inner, k,
                        TopKType::float32, largest,     scratch.data(), 0};
        kernels().top_k(a);
        for (int64_t i = 0; i < k; ++i)
          ASSERT_EQ(places[static_cast<size_t>(i * inner)], order[static_cast<size_t>(i)])
              << i << " of " << k;
      }
    }
  }
}

}  // namespace
}  // namespace enginery
