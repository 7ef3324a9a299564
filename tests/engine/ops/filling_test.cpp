// Pad, Tile, ConstantOfShape and Range: what they fill with, which sizes they give where shapes are
// known only at run time, and what they refuse.
#include "engine/ops/filling.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

Floats padded(PadMode mode, std::initializer_list<float> x, int64_t before, int64_t after) {
  return values(run(
      Pad{mode}, {Tensor::of<float>({static_cast<int64_t>(x.size())}, x), ints({before, after})}));
}

TEST(Pad, FillsByItsMode) {
  EXPECT_EQ(padded(PadMode::constant, {1, 2, 3}, 1, 2), (Floats{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded(PadMode::reflect, {1, 2, 3}, 2, 2), (Floats{3, 2, 1, 2, 3, 2, 1}));
  EXPECT_EQ(padded(PadMode::edge, {1, 2, 3}, 2, 1), (Floats{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(padded(PadMode::wrap, {1, 2, 3}, 2, 4), (Floats{2, 3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(padded(PadMode::reflect, {5}, 1, 1), (Floats{5, 5, 5}));
}

TEST(Pad, NegativePadsCrop) {
  EXPECT_EQ(padded(PadMode::constant, {1, 2, 3}, -1, 1), (Floats{2, 3, 0}));
  EXPECT_EQ(padded(PadMode::edge, {1, 2, 3}, 1, -2), (Floats{1, 1}));
}

TEST(Pad, TakesAValueAndAxes) {
  Tensor y = run(Pad{}, {counting({1, 2}), ints({1, 0}), floats({}, {7}), ints({-1})});
  EXPECT_EQ(values(y), (Floats{7, 0, 1}));
  Tensor bytes =
      run(Pad{}, {Tensor::of<int8_t>({1}, {1}), ints({0, 1}), Tensor::scalar<int8_t>(-4)});
  EXPECT_EQ(values<int8_t>(bytes), (std::vector<int8_t>{1, -4}));
  EXPECT_EQ(dims_with(Pad{}, {-2, 3}, {ints({0, 1, 0, 1})}), (Dims{-2, 5}));
}

TEST(Pad, SaysWhatItExpected) {
  EXPECT_REFUSED(try_run(Pad{}, {counting({2}), ints({1})}), "2 pads");
  EXPECT_REFUSED(try_run(Pad{}, {counting({2}), ints({-2, -1})}), "crop more");
  EXPECT_REFUSED(try_run(Pad{}, {counting({2}), ints({-5, 5})}), "crop more");
  EXPECT_REFUSED(try_run(Pad{}, {counting({2}), ints({INT64_MAX, INT64_MAX})}), "2^40");
  EXPECT_REFUSED(try_run(Pad{PadMode::edge}, {Tensor(DataType::float32, {0}), ints({1, 0})}),
                 "nothing to repeat");
  EXPECT_REFUSED(try_run(Pad{}, {counting({2}), ints({1, 1}), Tensor::scalar<int64_t>(1)}),
                 "one type");
}

TEST(Tile, Repeats) {
  EXPECT_EQ(values(run(Tile{}, {floats({1, 2}, {1, 2}), ints({2, 2})})),
            (Floats{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(dims_with(Tile{}, {-2, 3}, {ints({1, 2})}), (Dims{-2, 6}));
  EXPECT_EQ(run(Tile{}, {floats({2}, {1, 2}), ints({0})}).dims(), Dims{0});
  EXPECT_REFUSED(try_run(Tile{}, {counting({2}), ints({-1})}), "at least 0");
  EXPECT_REFUSED(try_run(Tile{}, {counting({2}), ints({1, 1})}), "1 repeats");
  EXPECT_REFUSED(try_run(Tile{}, {counting({2}), ints({INT64_MAX})}), "2^40");
}

TEST(ConstantOfShape, GivesItsValueInItsType) {
  EXPECT_EQ(values(run(ConstantOfShape{DataType::float32, 1.5f}, {ints({2, 1})})),
            (Floats{1.5f, 1.5f}));
  EXPECT_EQ(values<int64_t>(run(ConstantOfShape{DataType::int64, 3}, {ints({})})),
            std::vector<int64_t>{3});
  EXPECT_EQ(run(ConstantOfShape{DataType::boolean, 1}, {ints({0})}).tensor_type(),
            (TensorType{DataType::boolean, {0}}));
  EXPECT_REFUSED(try_run(ConstantOfShape{}, {ints({-1})}), "at least 0");
  EXPECT_REFUSED(try_run(ConstantOfShape{}, {ints({INT64_MAX, 2})}), "2^40");
}

TEST(Range, CountsFromStartToLimit) {
  auto range = [](float a, float b, float d) {
    return values(run(Range{}, {floats({}, {a}), floats({}, {b}), floats({}, {d})}));
  };
  EXPECT_EQ(range(1, 5, 2), (Floats{1, 3}));
  EXPECT_EQ(range(1, 5.5f, 2), (Floats{1, 3, 5}));
  EXPECT_EQ(range(10, 4, -2), (Floats{10, 8, 6}));
  EXPECT_EQ(range(1, 0, 1), Floats{});
  auto whole = [](int64_t a, int64_t b, int64_t d) {
    return try_run(Range{}, {Tensor::scalar(a), Tensor::scalar(b), Tensor::scalar(d)});
  };
  EXPECT_EQ(values<int64_t>((*whole(10, 3, -3))[0]), (std::vector<int64_t>{10, 7, 4}));
  EXPECT_EQ(values<int64_t>((*whole(INT64_MIN, INT64_MAX, INT64_MAX))[0]),
            (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_REFUSED(whole(0, 5, 0), "delta other than 0");
  EXPECT_REFUSED(whole(0, INT64_MAX, 1), "2^40");
  EXPECT_EQ(infer_of(Range{}, {i64({}), i64({}), i64({})})->at(0), i64({kDynamic}));
}

TEST(Pad, CropsOneEndWhileItFillsTheOther) {
  // What is cropped is gone before anything is mirrored, repeated or wrapped.
  EXPECT_EQ(padded(PadMode::reflect, {1, 2, 3, 4}, -1, 2), (Floats{2, 3, 4, 3, 2}));
  EXPECT_EQ(padded(PadMode::wrap, {1, 2, 3, 4}, 2, -1), (Floats{2, 3, 1, 2, 3}));
  EXPECT_EQ(padded(PadMode::edge, {1, 2, 3, 4}, -3, 2), (Floats{4, 4, 4}));
}

TEST(Pad, FillsTheCornersOfTwoDimensions) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(run(Pad{}, {x, ints({1, 0, 0, 1}), floats({}, {9})})),
            (Floats{9, 9, 9, 1, 2, 9, 3, 4, 9}));
  EXPECT_EQ(values(run(Pad{PadMode::edge}, {x, ints({1, 1, 0, 0})})),
            (Floats{1, 1, 2, 1, 1, 2, 3, 3, 4}));
}

TEST(Pad, AConstantMayFillAnEmptyTensor) {
  EXPECT_EQ(values(run(Pad{}, {Tensor(DataType::float32, {0}), ints({1, 2}), floats({}, {5})})),
            (Floats{5, 5, 5}));
}

TEST(Pad, KeepsRunTimeSizesThatItDoesNotTouch) {
  EXPECT_EQ(dims_with(Pad{}, {-2, -3, 4}, {ints({0, 1, 0, 0, 0, 0})}), (Dims{-2, -1, 4}));
  // The pads themselves known at run time: the rank is all that is certain.
  EXPECT_EQ(infer_of(Pad{}, {f32({2, 3}), i64({4})})->at(0).dims, (Dims{-1, -1}));
}

// The sizes are known at run time, their number is not one that a tensor can have.
TEST(ShapesFromInputs, RefuseARankBeforeTheSizesAreListed) {
  const TensorType shape = i64({int64_t{1} << 36}), x = f32({2, 3});
  EXPECT_REFUSED(infer_of(ConstantOfShape{}, {shape}), "68719476736 dimensions");
  EXPECT_REFUSED(infer_of(Reshape{}, {x, shape}), "68719476736 dimensions");
  EXPECT_REFUSED(infer_of(Expand{}, {x, shape}), "68719476736 dimensions");
  EXPECT_EQ(infer_of(ConstantOfShape{}, {i64({64})})->at(0).dims.size(), 64u);
  EXPECT_REFUSED(infer_of(ConstantOfShape{}, {i64({65})}), "65 dimensions");
}

TEST(Pad, RefusesAxesTwiceAndAValueThatIsNoScalar) {
  const Tensor x = counting({2, 2});
  EXPECT_REFUSED(try_run(Pad{}, {x, ints({1, 1, 1, 1}), none(), ints({0, -2})}), "named twice");
  EXPECT_REFUSED(try_run(Pad{}, {x, ints({1, 1}), none(), ints({2})}), "axis 2");
  EXPECT_REFUSED(try_run(Pad{}, {x, ints({0, 0, 0, 0}), floats({2}, {1, 2})}), "a scalar value");
}

TEST(PadSources, GiveTheInputOfEachOutputAndMinusOneForTheConstant) {
  const auto along = [](PadMode mode) {
    return *pad_sources(Pad{mode}, {0, 2, 0, 1}, nullptr, {1, 3}, {1, 6});
  };
  using Sources = std::vector<std::vector<int64_t>>;
  EXPECT_EQ(along(PadMode::constant), (Sources{{0}, {-1, -1, 0, 1, 2, -1}}));
  EXPECT_EQ(along(PadMode::reflect), (Sources{{0}, {2, 1, 0, 1, 2, 1}}));
  EXPECT_EQ(along(PadMode::edge), (Sources{{0}, {0, 0, 0, 1, 2, 2}}));
  EXPECT_EQ(along(PadMode::wrap), (Sources{{0}, {1, 2, 0, 1, 2, 0}}));
}

TEST(PadSources, LeaveTheDimensionsThatNoAxisNames) {
  const std::vector<int64_t> axes{-1};
  EXPECT_EQ(*pad_sources(Pad{}, {1, 0}, &axes, {2, 2}, {2, 3}),
            (std::vector<std::vector<int64_t>>{{0, 1}, {-1, 0, 1}}));
}

TEST(Tile, RepeatsInnerDimensionsBeforeOuterOnes) {
  EXPECT_EQ(values(run(Tile{}, {floats({2, 1}, {1, 2}), ints({2, 3})})),
            (Floats{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(values<uint8_t>(run(Tile{}, {Tensor::of<uint8_t>({2}, {1, 2}), ints({2})})),
            (std::vector<uint8_t>{1, 2, 1, 2}));
}

TEST(Tile, ARunTimeSizeStaysOnlyUnderARepeatOfOneOrNone) {
  EXPECT_EQ(dims_with(Tile{}, {-2, -3, -4}, {ints({1, 2, 0})}), (Dims{-2, -1, 0}));
  EXPECT_EQ(infer_of(Tile{}, {f32({2, 3}), i64({2})})->at(0).dims, (Dims{-1, -1}));
}

TEST(ConstantOfShape, AShapeKnownAtRunTimeGivesTheRank) {
  const ConstantOfShape fill{DataType::int64, 3};
  EXPECT_EQ(infer_of(fill, {i64({2})})->at(0), i64({-1, -1}));
  EXPECT_EQ(refusal(infer_of(fill, {i64({-1})})).substr(0, 11), "unsupported");
  EXPECT_REFUSED(infer_of(fill, {f32({2})}), "the shape as an int64 vector");
}

TEST(Range, StopsBeforeALimitThatItMeetsExactly) {
  const auto whole = [](int32_t a, int32_t b, int32_t d) {
    return values<int32_t>(run(Range{}, {Tensor::scalar(a), Tensor::scalar(b), Tensor::scalar(d)}));
  };
  EXPECT_EQ(whole(0, 6, 3), (std::vector<int32_t>{0, 3}));
  EXPECT_EQ(whole(0, 7, 3), (std::vector<int32_t>{0, 3, 6}));
  EXPECT_EQ(whole(0, -6, -3), (std::vector<int32_t>{0, -3}));
  EXPECT_EQ(whole(5, 5, 1), std::vector<int32_t>{});
  EXPECT_EQ(whole(5, 9, -1), std::vector<int32_t>{});
}

TEST(Range, MultipliesTheStepInsteadOfAddingItUp) {
  // Ten thousand additions of 0.1f would be off in the third digit.
  const Tensor y = run(Range{}, {floats({}, {0}), floats({}, {1000}), floats({}, {0.1f})});
  EXPECT_FLOAT_EQ(values(y)[9990], 9990 * 0.1f);
}

TEST(Range, TakesHalvesAsTheirValues) {
  const auto half = [](float v) { return convert(floats({}, {v}), DataType::float16); };
  const Tensor y = run(Range{}, {half(1), half(2), half(0.25f)});
  EXPECT_EQ(y.type(), DataType::float16);
  EXPECT_EQ(values(convert(y, DataType::float32)), (Floats{1, 1.25f, 1.5f, 1.75f}));
}

TEST(Range, RefusesWhatHasNoLength) {
  const auto range = [](float a, float b, float d) {
    return try_run(Range{}, {floats({}, {a}), floats({}, {b}), floats({}, {d})});
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_REFUSED(range(0, kInfinity, 1), "2^40");
  EXPECT_REFUSED(range(nan, 1, 1), "2^40");
  EXPECT_REFUSED(range(0, 1, nan), "2^40");
  EXPECT_REFUSED(infer_of(Range{}, {f32({2}), f32({}), f32({})}), "expected scalars");
  const TensorType byte{DataType::uint8, {}};
  EXPECT_REFUSED(infer_of(Range{}, {byte, byte, byte}), "a range of uint8");
}

}  // namespace
}  // namespace enginery
