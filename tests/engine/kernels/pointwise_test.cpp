// The CPU kernel pointwise: pieces of rows, operands that repeat, places that it overwrites, and
// the functions of its steps.
#include <algorithm>
#include <cmath>

#include "engine/kernels/cpu/isa/pointwise.h"
#include "tests/engine/kernels/cpu_kernels.h"

namespace enginery {
namespace {

// A chain works in pieces of a row: the last, shorter one counts as well.
TEST_P(CpuKernelsTest, RunPointwiseChainsOverRowsLongerThanAPiece) {
  for (const int64_t length : {1, 15, 16, 17, 511, 512, 513, 1025, 1500}) {
    const std::vector<float> x = values(2 * length, 1), y = values(length, 2);
    std::vector<float> out(static_cast<size_t>(2 * length), -77);
    PointwiseArguments a{};
    a.piece = kPointwisePiece;
    a.out = out.data();
    a.operand[0] = x.data();
    a.operand[1] = y.data();
    a.operands = 2;
    a.steps = 2;
    a.loops = 2;
    a.extent[0] = 2;
    a.extent[1] = length;
    a.out_stride[0] = a.operand_stride[0][0] = length;
    a.out_stride[1] = a.operand_stride[0][1] = a.operand_stride[1][1] = 1;
    a.step[0] = {PointwiseFunction::sub, 1, 0, 0};
    a.step[1] = {PointwiseFunction::relu, -1, 0, 0};
    kernels().pointwise(a);
    for (int64_t i = 0; i < 2 * length; ++i)
      EXPECT_EQ(at(out, i), std::max(at(x, i) - at(y, i % length), 0.0f)) << length << ": " << i;
  }
}

// What the output overwrites is read before.
TEST_P(CpuKernelsTest, RunPointwiseChainsOverALaterOperand) {
  constexpr int64_t kLength = 700;
  const std::vector<float> x = values(kLength, 1), y = values(kLength, 2);
  std::vector<float> out = y;
  PointwiseArguments a{};
  a.piece = kPointwisePiece;
  a.out = out.data();
  a.operand[0] = x.data();
  a.operand[1] = out.data();
  a.operands = a.steps = 2;
  a.loops = 1;
  a.extent[0] = kLength;
  a.out_stride[0] = a.operand_stride[0][0] = a.operand_stride[1][0] = 1;
  a.step[0] = {PointwiseFunction::square, -1, 0, 0};
  a.step[1] = {PointwiseFunction::sub, 1, 0, 0};
  kernels().pointwise(a);
  for (int64_t i = 0; i < kLength; ++i) EXPECT_EQ(at(out, i), at(x, i) * at(x, i) - at(y, i)) << i;
}

// One number for each channel of a pixel, over and over along a row of pixels; also as what the
// chain begins with.
TEST_P(CpuKernelsTest, RepeatPointwiseOperandsAlongARow) {
  for (const int64_t period : {3, 8, 16, 24, 128}) {
    for (const int64_t pixels : {1, 7, 200}) {
      const int64_t length = period * pixels;
      const std::vector<float> x = values(2 * length, 1), y = values(2 * period, 2);
      for (const int repeated : {0, 1}) {
        std::vector<float> out(static_cast<size_t>(2 * length), -77);
        PointwiseArguments a{};
        a.out = out.data();
        a.operand[repeated] = y.data();
        a.operand[1 - repeated] = x.data();
        a.operands = a.loops = 2;
        a.steps = 1;
        a.extent[0] = 2;
        a.extent[1] = length;
        a.out_stride[0] = a.operand_stride[1 - repeated][0] = length;
        a.operand_stride[repeated][0] = period;
        a.out_stride[1] = a.operand_stride[0][1] = a.operand_stride[1][1] = 1;
        a.piece = kPointwisePiece / period * period;
        a.period[repeated] = period;
        a.step[0] = {PointwiseFunction::sub, 1, 0, 0};
        kernels().pointwise(a);
        for (int64_t i = 0; i < 2 * length; ++i) {
          const float other = at(y, i / length * period + i % period);
          const float expected = repeated == 1 ? at(x, i) - other : other - at(x, i);
          ASSERT_EQ(at(out, i), expected) << period << " x " << pixels << ": " << i;
        }
      }
    }
  }
}

// What one step makes of the numbers.
std::vector<float> stepped(const CpuKernels& kernels, const std::vector<float>& x,
                           const PointwiseStep& step) {
  std::vector<float> out(x.size());
  PointwiseArguments a{};
  a.piece = kPointwisePiece;
  a.out = out.data();
  a.operand[0] = x.data();
  a.operands = a.steps = a.loops = 1;
  a.extent[0] = static_cast<int64_t>(x.size());
  a.out_stride[0] = a.operand_stride[0][0] = 1;
  a.step[0] = step;
  kernels.pointwise(a);
  return out;
}

// To a few units in the last place of the result, however small that is.
TEST_P(CpuKernelsTest, KeepTheDigitsOfSmallResultsOfPointwiseSteps) {
  std::vector<float> x;
  for (int i = -800; i <= 800; ++i) x.push_back(static_cast<float>(i) / 10);
  const struct {
    PointwiseFunction function;
    double (*expected)(double);
  } rows[] = {
      {PointwiseFunction::softplus, [](double v) { return std::log1p(std::exp(v)); }},
      {PointwiseFunction::mish, [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }},
      {PointwiseFunction::swish, [](double v) { return v / (1 + std::exp(-v)); }},
      {PointwiseFunction::sigmoid, [](double v) { return 1 / (1 + std::exp(-v)); }},
  };
  for (const auto& row : rows) {
    const std::vector<float> out = stepped(kernels(), x, {row.function, -1, 0, 0});
    for (size_t i = 0; i < x.size(); ++i) {
      const double r = row.expected(x[i]);
      ASSERT_NEAR(out[i], r, 2e-6 * std::abs(r))
          << static_cast<int>(row.function) << " of " << x[i];
    }
  }
}

TEST_P(CpuKernelsTest, ComputeTheFunctionsOfPointwiseSteps) {
  const std::vector<float> x = values(600);
  const auto run = [&](PointwiseFunction function, float alpha, float beta) {
    return stepped(kernels(), x, {function, -1, alpha, beta});
  };
  const struct {
    PointwiseFunction function;
    float alpha, beta;
    double (*expected)(double);
  } rows[] = {
      {PointwiseFunction::relu, 0, 0, [](double v) { return v > 0 ? v : 0; }},
      {PointwiseFunction::clip, -0.25f, 0.5f, [](double v) { return std::clamp(v, -0.25, 0.5); }},
      {PointwiseFunction::leaky_relu, 0.1f, 0, [](double v) { return v < 0 ? 0.1 * v : v; }},
      {PointwiseFunction::sigmoid, 0, 0, [](double v) { return 1 / (1 + std::exp(-v)); }},
      {PointwiseFunction::tanh, 0, 0, [](double v) { return std::tanh(v); }},
      {PointwiseFunction::softplus, 0, 0, [](double v) { return std::log1p(std::exp(v)); }},
      {PointwiseFunction::swish, 0, 0, [](double v) { return v / (1 + std::exp(-v)); }},
      {PointwiseFunction::mish, 0, 0,
       [](double v) { return v * std::tanh(std::log1p(std::exp(v))); }},
      {PointwiseFunction::gelu_tanh, 0, 0,
       [](double v) {
         return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
       }},
      {PointwiseFunction::exp, 0, 0, [](double v) { return std::exp(v); }},
      {PointwiseFunction::erf, 0, 0, [](double v) { return std::erf(v); }},
      {PointwiseFunction::abs, 0, 0, [](double v) { return std::abs(v); }},
      {PointwiseFunction::round, 0, 0, [](double v) { return std::nearbyint(v); }},
      {PointwiseFunction::square, 0, 0, [](double v) { return v * v; }},
      {PointwiseFunction::sin, 0, 0, [](double v) { return std::sin(v); }},
      {PointwiseFunction::cos, 0, 0, [](double v) { return std::cos(v); }},
      {PointwiseFunction::atan, 0, 0, [](double v) { return std::atan(v); }},
      {PointwiseFunction::asinh, 0, 0, [](double v) { return std::asinh(v); }},
  };
  for (const auto& row : rows) {
    const std::vector<float> out = run(row.function, row.alpha, row.beta);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(out[i], row.expected(x[i]), 2e-6)
          << static_cast<int>(row.function) << " of " << x[i];
  }
}

}  // namespace
}  // namespace enginery
