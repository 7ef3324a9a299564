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

Tensor row(std::initializer_list<float> x) {
  return Tensor::of<float>({1, static_cast<int64_t>(x.size())}, x);
}
Tensor resized(Resize op, const Tensor& x, std::initializer_list<int64_t> sizes) {
  return run(op, {x, none(), ints(sizes)});
}
Tensor scaled(Resize op, const Tensor& x, std::initializer_list<float> scales) {
  return run(op, {x, Tensor::of<float>({static_cast<int64_t>(scales.size())}, scales)});
}

TEST(Resize, NearestRepeatsOrDrops) {
  Resize op{.coordinates = ResizeCoordinates::asymmetric, .rounding = ResizeRounding::floor};
  EXPECT_EQ(values(scaled(op, counting({1, 1, 2, 2}), {1, 1, 2, 2})),
            (Floats{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(values(resized(op, row({1, 2, 3, 4}), {1, 2})), (Floats{1, 3}));
}

TEST(Resize, NearestRoundsHalvesByItsRule) {
  auto halves = [](ResizeRounding rounding) {  // asymmetric, 2 -> 4: positions 0, 0.5, 1, 1.5
    return values(resized({.coordinates = ResizeCoordinates::asymmetric, .rounding = rounding},
                          row({7, 8}), {1, 4}));
  };
  EXPECT_EQ(halves(ResizeRounding::round_prefer_floor), (Floats{7, 7, 8, 8}));
  EXPECT_EQ(halves(ResizeRounding::round_prefer_ceil), (Floats{7, 8, 8, 8}));
  EXPECT_EQ(halves(ResizeRounding::ceil), (Floats{7, 8, 8, 8}));
}

TEST(Resize, NearestKeepsAnyType) {
  Tensor x = Tensor::of<int64_t>({2}, {INT64_MAX, 3});
  EXPECT_EQ(values<int64_t>(resized({}, x, {4})),
            (std::vector<int64_t>{INT64_MAX, INT64_MAX, 3, 3}));
}

TEST(Resize, LinearFollowsItsCoordinates) {
  auto linear = [](ResizeCoordinates c, int64_t to) {
    return resized({.mode = ResizeMode::linear, .coordinates = c}, row({0, 10}), {1, to});
  };
  expect_near(linear(ResizeCoordinates::half_pixel, 4), {0, 2.5f, 7.5f, 10});
  expect_near(linear(ResizeCoordinates::align_corners, 5), {0, 2.5f, 5, 7.5f, 10});
  expect_near(linear(ResizeCoordinates::asymmetric, 4), {0, 5, 10, 10});
  expect_near(linear(ResizeCoordinates::half_pixel, 1), {5});
  expect_near(linear(ResizeCoordinates::pytorch_half_pixel, 4), {0, 2.5f, 7.5f, 10});
  expect_near(linear(ResizeCoordinates::pytorch_half_pixel, 1), {0});
}

TEST(Resize, LinearInTwoDimensions) {
  // From the ONNX documentation of Resize: 1 2 / 3 4, scales 2.
  expect_near(
      scaled({.mode = ResizeMode::linear}, floats({1, 1, 2, 2}, {1, 2, 3, 4}), {1, 1, 2, 2}),
      {1, 1.25f, 1.75f, 2, 1.5f, 1.75f, 2.25f, 2.5f, 2.5f, 2.75f, 3.25f, 3.5f, 3, 3.25f, 3.75f, 4});
}

TEST(Resize, CubicUsesFourNeighbours) {
  // Keys' kernel reproduces straight lines away from the borders; halfway with a = -0.75: -3/32,
  // 19/32, 19/32, -3/32.
  Resize op{.mode = ResizeMode::cubic, .coordinates = ResizeCoordinates::asymmetric};
  expect_near(resized(op, row({0, 0, 1, 0, 0}), {1, 10}),
              {0, -3.f / 32, 0, 19.f / 32, 1, 19.f / 32, 0, -3.f / 32, 0, 0});
  op.exclude_outside = true;
  expect_near(resized(op, row({4, 4, 4}), {1, 6}), {4, 4, 4, 4, 4, 4});
}

TEST(Resize, AntialiasAveragesWhatAReductionSkips) {
  // 4 -> 2: the triangle is twice as wide, weights 1/8 3/8 3/8 1/8 around each centre; the border
  // repeats.
  Resize op{.mode = ResizeMode::linear, .antialias = true};
  expect_near(resized(op, row({8, 0, 0, 16}), {1, 2}), {4, 6 + 2});
}

TEST(Resize, SymmetricKeepsTheCentre) {
  // 0.45 of 5 elements gives 2.25, cut to 2: the output stays centred on the input's element 2.
  Resize op{.mode = ResizeMode::linear, .coordinates = ResizeCoordinates::half_pixel_symmetric};
  Tensor y = scaled(op, row({0, 1, 2, 3, 4}), {1, 0.45f});
  ASSERT_EQ(y.dims(), (Dims{1, 2}));
  EXPECT_NEAR(values(y)[0] + values(y)[1], 4, 1e-5f);
}

TEST(Resize, CropReadsItsRegionAndExtrapolates) {
  Resize op{.mode = ResizeMode::linear, .coordinates = ResizeCoordinates::crop, .extrapolation = 9};
  auto crop = [&](float begin, float end) {
    return run(op, {row({0, 1, 2, 3, 4}), none(), ints({1, 3}), floats({4}, {0, begin, 1, end})});
  };
  expect_near(crop(0.25f, 0.75f), {1, 2, 3});
  expect_near(crop(0.5f, 1.5f), {2, 4, 9});
  EXPECT_REFUSED(try_run(op, {row({1}), none(), ints({1, 1})}), "region");
  EXPECT_REFUSED(try_run(op, {row({1}), none(), ints({1, 1}), floats({1}, {0})}),
                 "region as a vector of 4");
}

TEST(Resize, ScalesStandAsGiven) {
  // 5 * 0.6 = 3 elements; the position of the second is 1 / 0.6, not 1 / (3 / 5).
  EXPECT_EQ(scaled({}, row({0, 1, 2, 3, 4}), {1, 0.6f}).dims(), (Dims{1, 3}));
  EXPECT_EQ(dims_with(Resize{}, {-2, 3, 8}, {floats({3}, {1, 1, 2})}), (Dims{-2, 3, 16}));
  EXPECT_EQ(dims_with(Resize{}, {-2, 3, -3}, {floats({3}, {1, 1, 2})}), (Dims{-2, 3, -1}));
}

TEST(Resize, AnEmptyScalesTensorIsAbsent) {
  EXPECT_EQ(run(Resize{}, {row({1, 2}), Tensor(DataType::float32, {0}), ints({1, 4})}).dims(),
            (Dims{1, 4}));
}

TEST(Resize, SaysWhatItExpected) {
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), none(), none()}), "either scales or sizes");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), floats({2}, {1, 1}), ints({1, 1})}),
                 "either scales or sizes");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), floats({1}, {1})}), "scales as a vector of 2");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), floats({2}, {1, -2})}), "scales above 0");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), floats({2}, {1, NAN})}), "scales above 0");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), floats({2}, {1, 1e30f})}), "2^40");
  EXPECT_REFUSED(try_run(Resize{}, {row({1}), none(), ints({1, -1})}), "at least 0");
  EXPECT_REFUSED(try_run(Resize{}, {Tensor(DataType::float32, {0}), none(), ints({2})}),
                 "cannot grow");
}

}  // namespace
}  // namespace enginery
