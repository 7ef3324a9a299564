// float64 is computed in double: every number below needs more than the 24 bits of a float32.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

constexpr double kTiny = 0x1p-40;  // lost in a float32 next to 1

Tensor doubles(Dims dims, std::initializer_list<double> values) {
  return Tensor::of<double>(std::move(dims), values);
}

struct DoubleCase {
  const char* name;
  Op op;
  std::vector<Tensor> inputs;
  std::vector<double> expected;  // of the first output
};

Convolution convolution_1d() {
  Convolution op;
  op.strides = op.dilations = {1};
  op.pads_begin = op.pads_end = {0};
  return op;
}
Deconvolution deconvolution_1d() {
  Deconvolution op;
  op.strides = op.dilations = {1};
  op.pads_begin = op.pads_end = op.output_padding = {0};
  return op;
}
Pooling pooling_1d(PoolKind kind) {
  Pooling op;
  op.kind = kind;
  op.kernel = op.strides = {2};
  op.dilations = {1};
  op.pads_begin = op.pads_end = {0};
  return op;
}

std::vector<DoubleCase> sums_and_products() {
  const Tensor near_one = doubles({1, 2}, {1 + kTiny, 1 - kTiny}),
               column = doubles({2, 1}, {1 + kTiny, -1});
  const double product = (1 + kTiny) * (1 + kTiny) - (1 - kTiny);
  return {
      {"matmul", MatMul{}, {near_one, column}, {product}},
      {"gemm", Gemm{}, {near_one, column, doubles({1}, {kTiny})}, {product + kTiny}},
      {"einsum", Einsum{.equation = "ij,jk->ik"}, {near_one, column}, {product}},
      {"conv",
       convolution_1d(),
       {doubles({1, 1, 2}, {1 + kTiny, 3}), doubles({1, 1, 1}, {1 + kTiny}), doubles({1}, {kTiny})},
       {(1 + kTiny) * (1 + kTiny) + kTiny, 3 * (1 + kTiny) + kTiny}},
      {"deconv",
       deconvolution_1d(),
       {doubles({1, 1, 2}, {1 + kTiny, 3}), doubles({1, 1, 1}, {1 + kTiny}), doubles({1}, {kTiny})},
       {(1 + kTiny) * (1 + kTiny) + kTiny, 3 * (1 + kTiny) + kTiny}},
      {"cumsum",
       CumSum{},
       {doubles({3}, {1, kTiny, kTiny}), ints({0})},
       {1, 1 + kTiny, 1 + 2 * kTiny}},
      {"sum", Reduce{.kind = ReduceKind::sum}, {doubles({2}, {1, kTiny})}, {1 + kTiny}},
      {"mean", Reduce{.kind = ReduceKind::mean}, {doubles({2}, {1, 1 + 2 * kTiny})}, {1 + kTiny}},
      {"prod", Reduce{.kind = ReduceKind::prod}, {doubles({2}, {1e200, 1e100})}, {1e300}},
      {"max", Reduce{.kind = ReduceKind::max}, {doubles({2}, {1, 1 + kTiny})}, {1 + kTiny}},
      {"average pooling",
       pooling_1d(PoolKind::average),
       {doubles({1, 1, 2}, {1, 1 + 2 * kTiny})},
       {1 + kTiny}},
      {"max pooling", pooling_1d(PoolKind::max), {doubles({1, 1, 2}, {1, 1 + kTiny})}, {1 + kTiny}},
      {"global pooling",
       GlobalPooling{PoolKind::average},
       {doubles({1, 1, 2}, {1, 1 + 2 * kTiny})},
       {1 + kTiny}},
  };
}

std::vector<DoubleCase> element_by_element() {
  const Tensor x = doubles({2}, {1 + kTiny, -1 - kTiny});
  return {
      {"add", Binary{BinaryKind::add}, {x, doubles({}, {kTiny})}, {1 + 2 * kTiny, -1}},
      {"mul beyond float32",
       Binary{BinaryKind::mul},
       {doubles({1}, {1e200}), doubles({1}, {10})},
       {1e201}},
      {"div", Binary{BinaryKind::div}, {doubles({1}, {1}), doubles({1}, {3})}, {1.0 / 3}},
      {"mod",
       Binary{BinaryKind::mod},
       {doubles({1}, {-7.25}), doubles({1}, {1e10})},
       {1e10 - 7.25}},
      {"fmod",
       Binary{BinaryKind::fmod},
       {doubles({1}, {123456789.25}), doubles({1}, {10})},
       {9.25}},
      {"pow", Binary{BinaryKind::pow}, {doubles({1}, {10}), doubles({1}, {200})}, {1e200}},
      {"pow of two types",
       Binary{BinaryKind::pow},
       {doubles({1}, {1 + kTiny}), ints({1})},
       {1 + kTiny}},
      {"max of two",
       Binary{BinaryKind::max},
       {doubles({1}, {1}), doubles({1}, {1 + kTiny})},
       {1 + kTiny}},
      {"floor", Unary{UnaryKind::floor}, {doubles({1}, {123456789.75})}, {123456789}},
      {"neg", Unary{UnaryKind::neg}, {x}, {-1 - kTiny, 1 + kTiny}},
      {"sqrt", Unary{UnaryKind::sqrt}, {doubles({1}, {2})}, {std::sqrt(2.0)}},
      {"erf", Unary{UnaryKind::erf}, {doubles({1}, {0.1})}, {std::erf(0.1)}},
      {"relu", Activation{ActivationKind::relu}, {x}, {1 + kTiny, 0}},
      {"sigmoid",
       Activation{ActivationKind::sigmoid},
       {doubles({1}, {0.1})},
       {1 / (1 + std::exp(-0.1))}},
      {"prelu", PRelu{}, {x, doubles({1}, {1 + kTiny})}, {1 + kTiny, (1 + kTiny) * (-1 - kTiny)}},
  };
}

std::vector<DoubleCase> moved_and_chosen() {
  const Tensor at_one = Tensor::of<int64_t>({1, 1}, {1});
  Resize linear;
  linear.mode = ResizeMode::linear;
  linear.coordinates = ResizeCoordinates::align_corners;
  return {
      {"range", Range{}, {doubles({}, {0}), doubles({}, {0.3}), doubles({}, {0.1})}, {0, 0.1, 0.2}},
      {"top_k",
       TopK{.axis = 0},
       {doubles({3}, {1, 1 + kTiny, 1 - kTiny}), ints({2})},
       {1 + kTiny, 1}},
      {"scatter_nd",
       ScatterNd{ScatterKind::add},
       {doubles({2}, {1, 1}), at_one, doubles({1}, {kTiny})},
       {1, 1 + kTiny}},
      {"scatter_elements",
       ScatterElements{.axis = 0},
       {doubles({2}, {1, 1 + kTiny}), ints({0}), doubles({1}, {1 - kTiny})},
       {1 - kTiny, 1 + kTiny}},
      {"resize",
       linear,
       {doubles({2}, {1, 1 + 2 * kTiny}), none(), ints({3})},
       {1, 1 + kTiny, 1 + 2 * kTiny}},
      {"cast", Cast{DataType::float64}, {Tensor::of<int64_t>({1}, {123456789})}, {123456789}},
  };
}

double softmax_first(double a, double b) {
  return 1 / (1 + std::exp(b - a));
}

std::vector<DoubleCase> normalisations() {
  const Tensor x = doubles({1, 2}, {1 + kTiny, 1 - kTiny}), one = doubles({2}, {1, 1}),
               zero = doubles({2}, {0, 0});
  const double inverse = 1 / std::sqrt(kTiny * kTiny + static_cast<double>(1e-30f));
  const double lrn =
      2 / std::pow(1 + static_cast<double>(1e-4f) / 5 * 4, static_cast<double>(0.75f));
  return {
      {"softmax", Softmax{}, {x}, {softmax_first(kTiny, -kTiny), softmax_first(-kTiny, kTiny)}},
      {"layer_norm", LayerNorm{.epsilon = 1e-30f}, {x, one}, {kTiny * inverse, -kTiny * inverse}},
      {"instance_norm",
       InstanceNorm{.epsilon = 1e-30f},
       {x.reshaped({1, 1, 2}), doubles({1}, {1}), doubles({1}, {0})},
       {kTiny * inverse, -kTiny * inverse}},
      {"batch_norm", BatchNorm{.epsilon = 0}, {x, one, zero, one, one}, {kTiny, -kTiny}},
      {"lrn", Lrn{.size = 5}, {doubles({1, 1}, {2})}, {lrn}},
  };
}

void expect_exact(const std::vector<DoubleCase>& cases) {
  for (const DoubleCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto out = try_run(c.op, c.inputs);
    ASSERT_TRUE(out.ok()) << out.error().message;
    ASSERT_EQ((*out)[0].type(), DataType::float64);
    const std::vector<double> got = values<double>((*out)[0]);
    ASSERT_EQ(got.size(), c.expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], c.expected[i], 4e-16 * std::abs(c.expected[i])) << "element " << i;
  }
}

TEST(Doubles, SumsAndProductsAreNotRoundedToFloat) {
  expect_exact(sums_and_products());
}
TEST(Doubles, ElementWiseFunctionsAreNotRoundedToFloat) {
  expect_exact(element_by_element());
}
TEST(Doubles, MovedAndChosenNumbersAreNotRoundedToFloat) {
  expect_exact(moved_and_chosen());
}
TEST(Doubles, NormalisationsAreNotRoundedToFloat) {
  expect_exact(normalisations());
}

TEST(Doubles, ComparisonsSeeTheLastBit) {
  const Tensor a = doubles({1}, {1}), b = doubles({1}, {1 + kTiny});
  EXPECT_EQ(bits(run(Binary{BinaryKind::equal}, {a, b})), (std::vector{0}));
  EXPECT_EQ(bits(run(Binary{BinaryKind::less}, {a, b})), (std::vector{1}));
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{}, {doubles({2}, {1, 1 + kTiny})})),
            (std::vector<int64_t>{1}));
}

// floor(h * scale) as exporters write it: sizes that come of doubles.
TEST(Doubles, SizesComputedInDoubleAreExact) {
  const Tensor quotient =
      run(Binary{BinaryKind::div}, {doubles({1}, {123456789}), doubles({1}, {1})});
  const Tensor size = run(Cast{DataType::int64}, {run(Unary{UnaryKind::floor}, {quotient})});
  EXPECT_EQ(values<int64_t>(size), (std::vector<int64_t>{123456789}));
}

TEST(Doubles, WhatIsFloat32ByDefinitionRefusesThem) {
  const TensorType x{DataType::float64, {2}}, scale{DataType::float64, {}};
  const auto refused = [](const InferredTypes& types) {
    const std::string text = refusal(types);
    return text.starts_with("unsupported: ") && text.find("float64") != text.npos &&
           text.find("cast it") != text.npos;
  };
  EXPECT_TRUE(refused(infer_of(Quantize{}, {x, f32({})})));
  EXPECT_TRUE(refused(infer_of(Quantize{}, {f32({2}), scale})));
  EXPECT_TRUE(refused(infer_of(Dequantize{}, {{DataType::int8, {2}}, scale})));
  EXPECT_TRUE(refused(infer_of(Resize{}, {f32({2}), {DataType::float64, {1}}})));
}

}  // namespace
}  // namespace enginery
