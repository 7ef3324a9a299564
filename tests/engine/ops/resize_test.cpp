// Resize: which input elements an output reads and with which weights, by mode, coordinate rule and
// rounding; sizes by scales; what is refused.
#include "engine/ops/resize.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

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

// Every combination that an operator can ask for, for one enlargement and one reduction.
template <typename F>
void for_each_resize(F&& f) {
  for (const ResizeMode mode : {ResizeMode::nearest, ResizeMode::linear, ResizeMode::cubic}) {
    for (size_t c = 0; c < enum_names(ResizeCoordinates{}).size(); ++c) {
      for (const bool antialias : {false, true}) {
        for (const bool exclude : {false, true}) {
          for (const int64_t out : {1, 3, 5, 13}) {
            const Resize op{.mode = mode,
                            .coordinates = static_cast<ResizeCoordinates>(c),
                            .exclude_outside = exclude,
                            .antialias = antialias};
            f(op, ResizeDim{5, out, static_cast<float>(out) / 5});
          }
        }
      }
    }
  }
}

TEST(ResizeTaps, StayInsideTheInputAndWeighOneTogether) {
  for_each_resize([](const Resize& op, const ResizeDim& dim) {
    const auto all = resize_taps(op, dim);
    ASSERT_EQ(static_cast<int64_t>(all.size()), dim.out);
    for (const SampleTaps& taps : all) {
      double sum = 0;
      for (const SampleTap& tap : taps.taps) {
        EXPECT_TRUE(tap.at >= 0 && tap.at < dim.in) << attributes_text(op) << " at " << tap.at;
        sum += tap.weight;
      }
      EXPECT_FALSE(taps.outside) << attributes_text(op);
      EXPECT_NEAR(sum, 1, 1e-6) << attributes_text(op) << " to " << dim.out;
    }
  });
}

TEST(ResizeTaps, ReadInAscendingOrderFromOneEndToTheOther) {
  // Of two neighbouring outputs the later never reads further left: nothing is mirrored.
  for_each_resize([](const Resize& op, const ResizeDim& dim) {
    if (op.mode == ResizeMode::cubic) return;  // its negative weights overshoot at the edges
    const auto all = resize_taps(op, dim);
    double last = -1;
    for (const SampleTaps& taps : all) {
      double centre = 0;
      for (const SampleTap& tap : taps.taps) centre += static_cast<double>(tap.at) * tap.weight;
      EXPECT_GE(centre, last - 1e-6) << attributes_text(op) << " to " << dim.out;
      last = centre;
    }
  });
}

TEST(ResizeTaps, AntialiasChangesReductionsAlone) {
  const auto count = [](bool antialias, int64_t out) {
    const Resize op{.mode = ResizeMode::linear, .antialias = antialias};
    const auto all = resize_taps(op, {12, out, static_cast<float>(out) / 12});
    size_t nonzero = 0;
    for (const SampleTap& t : all[1].taps) nonzero += t.weight > 0;
    return nonzero;
  };
  EXPECT_EQ(count(true, 24), count(false, 24));
  EXPECT_EQ(count(false, 3), 2u);  // two neighbours, whatever is skipped
  EXPECT_EQ(count(true, 3), 8u);   // a triangle four times as wide
}

TEST(ResizeTaps, ExcludeOutsideDropsTheTapsBeyondTheEdge) {
  const auto first = [](bool exclude) {
    const Resize op{.mode = ResizeMode::linear, .exclude_outside = exclude};
    return resize_taps(op, {4, 8, 2})[0].taps;  // position -0.25
  };
  ASSERT_EQ(first(false).size(), 2u);  // the edge element twice
  EXPECT_EQ(first(false)[0].at, 0);
  EXPECT_EQ(first(false)[1].at, 0);
  ASSERT_EQ(first(true).size(), 1u);
  EXPECT_DOUBLE_EQ(first(true)[0].weight, 1);
}

TEST(ResizeTaps, TheCubicCoefficientShapesTheKernel) {
  // Halfway between two elements Keys' kernel gives a/8 to the outer and 1/2 - a/8 to the inner.
  for (const float a : {-0.75f, -0.5f, 0.0f}) {
    const Resize op{.mode = ResizeMode::cubic,
                    .coordinates = ResizeCoordinates::asymmetric,
                    .cubic_coefficient = a};
    const auto taps = resize_taps(op, {6, 12, 2})[5].taps;  // position 2.5
    ASSERT_EQ(taps.size(), 4u);
    EXPECT_NEAR(taps[0].weight, a / 8, 1e-6);
    EXPECT_NEAR(taps[1].weight, 0.5 - a / 8, 1e-6);
    EXPECT_NEAR(taps[2].weight, 0.5 - a / 8, 1e-6);
    EXPECT_NEAR(taps[3].weight, a / 8, 1e-6);
  }
}

TEST(ResizeTaps, ACropThatLeavesTheInputIsOutside) {
  const Resize op{.coordinates = ResizeCoordinates::crop};
  const auto taps = resize_taps(op, {5, 3, 1, 0.5f, 1.5f});  // positions 2, 4, 6
  EXPECT_FALSE(taps[0].outside);
  EXPECT_EQ(taps[1].taps[0].at, 4);
  EXPECT_TRUE(taps[2].outside);
}

TEST(Resize, AlignedCornersOfOneElementReadTheFirst) {
  const Resize op{.mode = ResizeMode::linear, .coordinates = ResizeCoordinates::align_corners};
  expect_near(resized(op, row({3, 4, 5}), {1, 1}), {3});
  expect_near(resized(op, row({3}), {1, 3}), {3, 3, 3});
}

TEST(Resize, OneDimensionAfterTheOther) {
  // Height shrinks while width grows: neither may read what the other has not yet written.
  const Resize op{.coordinates = ResizeCoordinates::asymmetric, .rounding = ResizeRounding::floor};
  EXPECT_EQ(values(resized(op, counting({4, 2}), {2, 4})), (Floats{0, 0, 1, 1, 4, 4, 5, 5}));
}

TEST(Resize, ASizeOfNothingGivesNothing) {
  EXPECT_EQ(resized({}, row({1, 2}), {1, 0}).dims(), (Dims{1, 0}));
  EXPECT_EQ(resized({}, Tensor(DataType::float32, {1, 0}), {1, 0}).dims(), (Dims{1, 0}));
}

TEST(Resize, HalvesAreRoundedOnceAtTheEnd) {
  const Tensor x = convert(row({0, 1}), DataType::float16);
  const Tensor y = resized({.mode = ResizeMode::linear}, x, {1, 4});
  EXPECT_EQ(y.type(), DataType::float16);
  expect_near(convert(y, DataType::float32), {0, 0.25f, 0.75f, 1});
}

TEST(Resize, RunTimeSizesGiveTheRank) {
  std::vector<Operand> in = {
      {true, f32({1, 3, 8, 8}), nullptr}, {false, {}, nullptr}, {true, i64({4}), nullptr}};
  EXPECT_EQ(infer_types(Resize{}, in)->at(0).dims, (Dims{-1, -1, -1, -1}));
}

TEST(Resize, TakesScalesThatFloatAndSizesThatCount) {
  EXPECT_REFUSED(infer_of(Resize{}, {f32({2}), i64({1})}), "floating scales");
  std::vector<Operand> in = {
      {true, f32({2}), nullptr}, {false, {}, nullptr}, {true, f32({1}), nullptr}};
  EXPECT_REFUSED(infer_types(Resize{}, in), "the sizes as an int64 vector");
  EXPECT_REFUSED(infer_of(Resize{}, {TensorType{DataType::boolean, {2}}, f32({1})}), "numbers");
}

}  // namespace
}  // namespace enginery
