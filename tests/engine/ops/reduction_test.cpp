#include "engine/ops/reduction.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

float reduced(ReduceKind kind, std::initializer_list<float> x) {
  return values(
      run(Reduce{.kind = kind}, {Tensor::of<float>({static_cast<int64_t>(x.size())}, x)}))[0];
}

TEST(Reduce, ComputesItsFormula) {
  using K = ReduceKind;
  EXPECT_EQ(reduced(K::sum, {1, -2, 4}), 3);
  EXPECT_EQ(reduced(K::mean, {1, -2, 4}), 1);
  EXPECT_EQ(reduced(K::max, {1, -2, 4}), 4);
  EXPECT_EQ(reduced(K::min, {1, -2, 4}), -2);
  EXPECT_EQ(reduced(K::prod, {1, -2, 4}), -8);
  EXPECT_EQ(reduced(K::sum_square, {1, -2, 4}), 21);
  EXPECT_EQ(reduced(K::l1, {1, -2, 4}), 7);
  EXPECT_EQ(reduced(K::l2, {3, -4}), 5);
  EXPECT_NEAR(reduced(K::log_sum, {1, 2, 4}), std::log(7.f), 1e-6f);
  EXPECT_NEAR(reduced(K::log_sum_exp, {1000, 1000}), 1000 + std::log(2.f), 1e-4f);
}

TEST(Reduce, OfNothingIsNeutral) {
  using K = ReduceKind;
  EXPECT_EQ(reduced(K::sum, {}), 0);
  EXPECT_EQ(reduced(K::prod, {}), 1);
  EXPECT_EQ(reduced(K::max, {}), -kInfinity);
  EXPECT_EQ(reduced(K::min, {}), kInfinity);
  EXPECT_EQ(reduced(K::log_sum_exp, {}), -kInfinity);
  EXPECT_TRUE(std::isnan(reduced(K::mean, {})));
}

TEST(Reduce, AxesMayStandAnywhere) {
  Tensor x = counting({2, 2, 3});
  EXPECT_EQ(values(run(Reduce{.kind = ReduceKind::sum, .axes = {1}}, {x})),
            (Floats{3, 5, 7, 15, 17, 19}));
  EXPECT_EQ(values(run(Reduce{.kind = ReduceKind::sum, .axes = {-1, 0}}, {x})), (Floats{24, 42}));
  EXPECT_EQ(run(Reduce{.axes = {0}, .keep_dims = false}, {x}).dims(), (Dims{2, 3}));
  EXPECT_EQ(dims_of(Reduce{.axes = {2, 3}}, {{-2, 8, -3, 4}}), (Dims{-2, 8, 1, 1}));
}

TEST(Reduce, NoAxesMeanAllOrNone) {
  Tensor x = counting({2, 2});
  EXPECT_EQ(values(run(Reduce{.kind = ReduceKind::sum, .keep_dims = false}, {x})), Floats{6});
  EXPECT_EQ(values(run(Reduce{.kind = ReduceKind::sum_square, .none_is_identity = true}, {x})),
            values(x));
}

TEST(Reduce, IntegersStayExact) {
  Tensor x = ints({INT64_MAX - 2, 1, -1});
  EXPECT_EQ(values<int64_t>(run(Reduce{.kind = ReduceKind::sum}, {x})),
            std::vector<int64_t>{INT64_MAX - 2});
  EXPECT_EQ(values<int64_t>(run(Reduce{.kind = ReduceKind::max}, {x})),
            std::vector<int64_t>{INT64_MAX - 2});
  EXPECT_EQ(values<int64_t>(run(Reduce{.kind = ReduceKind::mean}, {ints({-3, 0})})),
            std::vector<int64_t>{-1});
  EXPECT_EQ(values<int64_t>(run(Reduce{.kind = ReduceKind::l2}, {ints({3, 4})})),
            std::vector<int64_t>{5});
  EXPECT_EQ(bits(run(Reduce{.kind = ReduceKind::max}, {booleans({2}, {0, 1})})),
            std::vector<int>{1});
}

TEST(Reduce, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Reduce{.axes = {2}}, {f32({2, 3})}), "axis 2");
  EXPECT_REFUSED(infer_of(Reduce{.axes = {0, -2}}, {f32({2, 3})}), "named twice");
  EXPECT_REFUSED(infer_of(Reduce{}, {TensorType{DataType::int8, {2}}}), "mean of int8");
  EXPECT_REFUSED(try_run(Reduce{}, {Tensor(DataType::int64, {0})}), "mean of no integers");
}

TEST(ArgMinMax, FindsTheFirstOrLast) {
  Tensor x = floats({2, 3}, {1, 5, 5, 2, 0, 0});
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.axis = 1}, {x})), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.select_last = true, .axis = 1}, {x})),
            (std::vector<int64_t>{2, 0}));
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.largest = false, .axis = 1}, {x})),
            (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.keep_dims = false, .axis = 0}, {x})),
            (std::vector<int64_t>{1, 0, 0}));
  EXPECT_EQ(infer_of(ArgMinMax{.keep_dims = false, .axis = -1}, {f32({-2, 1000})})->at(0),
            i64({-2}));
  EXPECT_REFUSED(infer_of(ArgMinMax{.axis = 1}, {f32({2, 0})}), "no elements");
}

TEST(Reduce, ExtremesPassNanOn) {
  EXPECT_TRUE(std::isnan(reduced(ReduceKind::max, {1, NAN, 2})));
  EXPECT_TRUE(std::isnan(reduced(ReduceKind::min, {NAN, 1})));
}

TEST(Reduce, LogSumExpSurvivesInfinities) {
  EXPECT_EQ(reduced(ReduceKind::log_sum_exp, {-kInfinity, -kInfinity}), -kInfinity);
  EXPECT_EQ(reduced(ReduceKind::log_sum_exp, {0, -kInfinity}), 0);
  EXPECT_EQ(reduced(ReduceKind::log_sum_exp, {0, kInfinity}), kInfinity);
}

TEST(Reduce, SumsInDouble) {
  EXPECT_EQ(reduced(ReduceKind::sum, {1e8f, 1, -1e8f}), 1);
  EXPECT_FLOAT_EQ(reduced(ReduceKind::l2, {1e30f, 1e30f}), std::sqrt(2.0f) * 1e30f);
}

TEST(Reduce, AnEmptyAxisGivesTheNeutralValueForEveryOutput) {
  const Tensor x(DataType::float32, {2, 0, 2});
  EXPECT_EQ(values(run(Reduce{.kind = ReduceKind::sum, .axes = {1}}, {x})), (Floats{0, 0, 0, 0}));
  EXPECT_EQ(run(Reduce{.kind = ReduceKind::sum, .axes = {0}, .keep_dims = false}, {x}).dims(),
            (Dims{0, 2}));
  const Tensor bytes(DataType::int8, {1, 0});
  EXPECT_EQ(values<int8_t>(run(Reduce{.kind = ReduceKind::max, .axes = {1}}, {bytes})),
            std::vector<int8_t>{-128});
}

TEST(Reduce, IntegersWrapInTheirOwnWidth) {
  const Tensor x = Tensor::of<int32_t>({2}, {INT32_MIN, -1});
  const auto of = [&](ReduceKind kind) {
    return values<int32_t>(run(Reduce{.kind = kind}, {x}))[0];
  };
  EXPECT_EQ(of(ReduceKind::sum), INT32_MAX);
  EXPECT_EQ(of(ReduceKind::prod), INT32_MIN);
  EXPECT_EQ(of(ReduceKind::l1), INT32_MIN + 1);
  EXPECT_EQ(of(ReduceKind::sum_square), 1);
}

TEST(Reduce, AMeanOfUnsignedNumbersIsUnsigned) {
  const Tensor x = Tensor::of<uint64_t>({1}, {UINT64_MAX});
  EXPECT_EQ(values<uint64_t>(run(Reduce{}, {x})), std::vector<uint64_t>{UINT64_MAX});
}

TEST(ArgMinMax, FindsExtremesAlongAMiddleAxis) {
  const Tensor x = floats({2, 2, 2}, {1, 8, 3, 6, 5, 4, 7, 2});
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.axis = 1}, {x})), (std::vector<int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{.largest = false, .axis = -2}, {x})),
            (std::vector<int64_t>{0, 1, 0, 1}));
}

TEST(ArgMinMax, TellsIntegersApartThatNoFloatDoes) {
  EXPECT_EQ(values<int64_t>(run(ArgMinMax{}, {ints({INT64_MAX - 1, INT64_MAX})})),
            std::vector<int64_t>{1});
}

TEST(ArgMinMax, BooleansHaveNoOrder) {
  EXPECT_REFUSED(infer_of(ArgMinMax{}, {TensorType{DataType::boolean, {2}}}), "expected numbers");
}

}  // namespace
}  // namespace enginery
