#include "engine/ops/activation.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

struct ActivationCase {
  Activation op;
  float x, y;
};

TEST(Activation, ComputesItsFormula) {
  using K = ActivationKind;
  const ActivationCase cases[] = {
      {{K::relu}, -2, 0},
      {{K::relu}, 3, 3},
      {{K::clip, 0, 6}, 7, 6},
      {{K::clip, -kInfinity, 6}, -70, -70},
      {{K::clip, 2, 1}, 0, 1},  // an upper bound below the lower one wins
      {{K::leaky_relu, 0.1f}, -2, -0.2f},
      {{K::elu, 2}, -1, 2 * (std::exp(-1.0f) - 1)},
      {{K::selu, 1.67326f, 1.0507f}, 2, 2.1014f},
      {{K::selu, 1.67326f, 1.0507f}, -1, 1.0507f * 1.67326f * (std::exp(-1.0f) - 1)},
      {{K::celu, 2}, -1, 2 * (std::exp(-0.5f) - 1)},
      {{K::sigmoid}, 0, 0.5f},
      {{K::sigmoid}, -200, 0},
      {{K::hard_sigmoid, 0.2f, 0.5f}, 1, 0.7f},
      {{K::hard_sigmoid, 0.2f, 0.5f}, 9, 1},
      {{K::hard_swish}, 1, 1 * (4.0f / 6)},
      {{K::hard_swish}, -3, 0},
      {{K::swish}, 2, 2 / (1 + std::exp(-2.0f))},
      {{K::mish}, 1, std::tanh(std::log1p(std::exp(1.0f)))},
      {{K::tanh}, 0.5f, std::tanh(0.5f)},
      {{K::softplus}, 0, std::log(2.0f)},
      {{K::softplus}, 500, 500},
      {{K::softsign}, -3, -0.75f},
      {{K::gelu_erf}, 1, 0.8413447f},
      {{K::gelu_tanh}, 1, 0.8411920f},
      {{K::thresholded_relu, 1}, 1, 0},
      {{K::thresholded_relu, 1}, 1.5f, 1.5f},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(activate(c.op, c.x), c.y, 1e-6f * std::max(1.0f, std::abs(c.y)))
        << attributes_text(c.op) << " of " << c.x;
    EXPECT_EQ(values(run(c.op, {floats({1}, {c.x})})), Floats{activate(c.op, c.x)});
  }
}

TEST(Activation, EveryKindPassesNanOn) {
  for (size_t kind = 0; kind < enum_names(ActivationKind{}).size(); ++kind) {
    Activation op{static_cast<ActivationKind>(kind), 0.5f, 1};
    if (op.kind == ActivationKind::thresholded_relu) continue;  // NaN is not above alpha
    EXPECT_TRUE(std::isnan(activate(op, NAN))) << attributes_text(op);
  }
}

TEST(Activation, ReluAndClipTakeIntegersExactly) {
  Tensor x = Tensor::of<int64_t>({3}, {-5, INT64_MAX - 1, 3});
  EXPECT_EQ(values<int64_t>(run(Activation{ActivationKind::relu}, {x})),
            (std::vector<int64_t>{0, INT64_MAX - 1, 3}));
  EXPECT_EQ(values<int64_t>(run(Activation{ActivationKind::clip, -2, kInfinity}, {x})),
            (std::vector<int64_t>{-2, INT64_MAX - 1, 3}));
  Tensor bytes = Tensor::of<uint8_t>({2}, {200, 4});
  EXPECT_EQ(values<uint8_t>(run(Activation{ActivationKind::clip, -1, 6}, {bytes})),
            (std::vector<uint8_t>{6, 4}));
}

TEST(Activation, KeepsTypeAndShape) {
  EXPECT_EQ(dims_of(Activation{}, {{-2, 3, -1}}), (Dims{-2, 3, -1}));
  EXPECT_EQ(run(Activation{}, {Tensor(DataType::float32, {2, 0})}).dims(), (Dims{2, 0}));
}

TEST(Activation, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Activation{ActivationKind::tanh}, {i64({2})}), "tanh of int64");
  EXPECT_REFUSED(infer_of(Activation{}, {TensorType{DataType::boolean, {2}}}), "boolean");
  EXPECT_REFUSED(infer_of(Activation{ActivationKind::clip, NAN, 1}, {f32({2})}), "numbers");
}

TEST(Unary, ComputesItsFunction) {
  using K = UnaryKind;
  struct Case {
    UnaryKind kind;
    float x, y;
  };
  const Case cases[] = {{K::abs, -2, 2},
                        {K::neg, 3, -3},
                        {K::exp, 1, 2.7182818f},
                        {K::log, 1, 0},
                        {K::sqrt, 9, 3},
                        {K::reciprocal, 4, 0.25f},
                        {K::floor, -1.5f, -2},
                        {K::ceil, -1.5f, -1},
                        {K::round, 2.5f, 2},
                        {K::round, 3.5f, 4},
                        {K::round, -0.5f, 0},
                        {K::sign, -7, -1},
                        {K::sign, 0, 0},
                        {K::erf, 1, 0.84270079f},
                        {K::sin, 1, 0.84147098f},
                        {K::cos, 0, 1},
                        {K::tan, 1, 1.5574077f},
                        {K::asin, 1, 1.5707963f},
                        {K::acos, 1, 0},
                        {K::atan, 1, 0.78539816f},
                        {K::sinh, 1, 1.1752012f},
                        {K::cosh, 0, 1},
                        {K::asinh, 1, 0.88137359f},
                        {K::acosh, 1, 0},
                        {K::atanh, 0.5f, 0.54930614f}};
  for (const auto& c : cases) {
    EXPECT_NEAR(values(run(Unary{c.kind}, {floats({1}, {c.x})}))[0], c.y, 1e-6f)
        << attributes_text(Unary{c.kind});
  }
}

TEST(Unary, IntegersStayIntegers) {
  Tensor x = Tensor::of<int8_t>({3}, {-128, -3, 5});
  EXPECT_EQ(values<int8_t>(run(Unary{UnaryKind::abs}, {x})), (std::vector<int8_t>{-128, 3, 5}));
  EXPECT_EQ(values<int8_t>(run(Unary{UnaryKind::sign}, {x})), (std::vector<int8_t>{-1, -1, 1}));
  EXPECT_EQ(values<int8_t>(run(Unary{UnaryKind::bitwise_not}, {x})),
            (std::vector<int8_t>{127, 2, -6}));
  EXPECT_EQ(values<int64_t>(run(Unary{UnaryKind::neg}, {ints({INT64_MIN, 4})})),
            (std::vector<int64_t>{INT64_MIN, -4}));
}

TEST(Unary, PredicatesAreBoolean) {
  Tensor x = floats({4}, {1, NAN, kInfinity, -kInfinity});
  EXPECT_EQ(bits(run(Unary{UnaryKind::is_nan}, {x})), (std::vector<int>{0, 1, 0, 0}));
  EXPECT_EQ(bits(run(Unary{UnaryKind::is_inf}, {x})), (std::vector<int>{0, 0, 1, 1}));
  EXPECT_EQ(bits(run(Unary{UnaryKind::is_positive_inf}, {x})), (std::vector<int>{0, 0, 1, 0}));
  EXPECT_EQ(bits(run(Unary{UnaryKind::is_negative_inf}, {x})), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(bits(run(Unary{UnaryKind::logical_not}, {booleans({2}, {0, 1})})),
            (std::vector<int>{1, 0}));
}

TEST(Unary, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Unary{UnaryKind::sqrt}, {i64({2})}), "sqrt of int64");
  EXPECT_REFUSED(infer_of(Unary{UnaryKind::logical_not}, {f32({2})}), "logical_not of float32");
  EXPECT_REFUSED(infer_of(Unary{UnaryKind::bitwise_not}, {f32({2})}), "bitwise_not of float32");
}

TEST(PRelu, SlopesBroadcastToTheInput) {
  Tensor x = floats({1, 2, 2}, {-1, 2, -3, -4});
  EXPECT_EQ(values(run(PRelu{}, {x, floats({2, 1}, {0.5f, 2})})), (Floats{-0.5f, 2, -6, -8}));
  EXPECT_EQ(values<int32_t>(
                run(PRelu{}, {Tensor::of<int32_t>({2}, {-3, 3}), Tensor::of<int32_t>({}, {2})})),
            (std::vector<int32_t>{-6, 3}));
  EXPECT_EQ(dims_of(PRelu{}, {{-2, 3, -3}, {3, 1}}), (Dims{-2, 3, -3}));
}

TEST(PRelu, RefusesASlopeThatWouldWidenTheInput) {
  EXPECT_REFUSED(infer_of(PRelu{}, {f32({2}), f32({1, 2})}), "does not broadcast");
  EXPECT_REFUSED(infer_of(PRelu{}, {f32({1}), f32({2})}), "does not broadcast");
}

TEST(Activation, InfinitiesGoWhereTheFormulaLeads) {
  using K = ActivationKind;
  const ActivationCase cases[] = {
      {{K::relu}, kInfinity, kInfinity},
      {{K::relu}, -kInfinity, 0},
      {{K::clip, -1, 6}, kInfinity, 6},
      {{K::clip, -1, 6}, -kInfinity, -1},
      {{K::elu, 2}, -kInfinity, -2},
      {{K::selu, 2, 3}, -kInfinity, -6},
      {{K::celu, 2}, -kInfinity, -2},
      {{K::sigmoid}, kInfinity, 1},
      {{K::sigmoid}, -kInfinity, 0},
      {{K::hard_sigmoid, 0.2f, 0.5f}, -kInfinity, 0},
      {{K::hard_swish}, kInfinity, kInfinity},
      {{K::tanh}, -kInfinity, -1},
      {{K::softplus}, kInfinity, kInfinity},
      {{K::softplus}, -kInfinity, 0},
      {{K::thresholded_relu, 1}, kInfinity, kInfinity},
  };
  for (const auto& c : cases)
    EXPECT_EQ(activate(c.op, c.x), c.y) << attributes_text(c.op) << " of " << c.x;
}

TEST(Activation, ClipOfIntegersTruncatesItsBounds) {
  const Tensor x = Tensor::of<uint8_t>({4}, {0, 2, 3, 200});
  EXPECT_EQ(values<uint8_t>(run(Activation{ActivationKind::clip, 1.5f, 3.5f}, {x})),
            (std::vector<uint8_t>{1, 2, 3, 3}));
  // Bounds that the type cannot hold bound nothing.
  EXPECT_EQ(values<uint8_t>(run(Activation{ActivationKind::clip, -1e9f, 1e9f}, {x})),
            (std::vector<uint8_t>{0, 2, 3, 200}));
}

TEST(Unary, PolesAndDomainsFollowIeee) {
  const auto of = [](UnaryKind kind, float x) {
    return values(run(Unary{kind}, {floats({1}, {x})}))[0];
  };
  EXPECT_EQ(of(UnaryKind::log, 0), -kInfinity);
  EXPECT_EQ(of(UnaryKind::reciprocal, -0.0f), -kInfinity);
  EXPECT_EQ(of(UnaryKind::exp, 1000), kInfinity);
  EXPECT_EQ(of(UnaryKind::atanh, 1), kInfinity);
  EXPECT_TRUE(std::isnan(of(UnaryKind::sqrt, -1)));
  EXPECT_TRUE(std::isnan(of(UnaryKind::acos, 2)));
  EXPECT_TRUE(std::isnan(of(UnaryKind::sign, NAN)));
  EXPECT_TRUE(std::signbit(of(UnaryKind::neg, 0)));
  EXPECT_TRUE(std::signbit(of(UnaryKind::ceil, -0.5f)));
}

TEST(Unary, RoundsEveryHalfToTheEvenNeighbour) {
  EXPECT_EQ(
      values(run(Unary{UnaryKind::round}, {floats({6}, {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f})})),
      (Floats{-2, -2, 0, 0, 2, 2}));
}

TEST(Unary, RoundingAnIntegerChangesNothing) {
  const Tensor x = ints({INT64_MAX, -7});
  for (const UnaryKind kind : {UnaryKind::floor, UnaryKind::ceil, UnaryKind::round})
    EXPECT_EQ(values<int64_t>(run(Unary{kind}, {x})), values<int64_t>(x));
}

TEST(Unary, UnsignedIntegersWrapBelowZero) {
  EXPECT_EQ(values<uint16_t>(run(Unary{UnaryKind::neg}, {Tensor::of<uint16_t>({2}, {1, 0})})),
            (std::vector<uint16_t>{65535, 0}));
}

TEST(PRelu, SlopesTouchNegativesAlone) {
  const Tensor y = run(PRelu{}, {floats({3}, {NAN, 2, -2}), floats({3}, {5, NAN, 3})});
  EXPECT_TRUE(std::isnan(values(y)[0]));
  EXPECT_EQ(values(y)[1], 2);
  EXPECT_EQ(values(y)[2], -6);
}

}  // namespace
}  // namespace enginery
