#include "engine/ops/pooling.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

Pooling pool1d(PoolKind kind, int64_t kernel, int64_t stride, int64_t begin = 0, int64_t end = 0,
               int64_t dilation = 1) {
  return {kind, {kernel}, {stride}, {dilation}, {begin}, {end}, false, false};
}
Pooling with_ceil(Pooling p) {
  p.ceil_mode = true;
  return p;
}
Pooling with_padding(Pooling p) {
  p.count_padding = true;
  return p;
}

constexpr PoolKind kMax = PoolKind::max, kAverage = PoolKind::average;

TEST(Pooling, ShapeRoundsDownOrUp) {
  EXPECT_EQ(dims_of(pool1d(kMax, 3, 2), {{1, 4, 112}}), (Dims{1, 4, 55}));
  EXPECT_EQ(dims_of(with_ceil(pool1d(kMax, 3, 2)), {{1, 4, 112}}), (Dims{1, 4, 56}));
  EXPECT_EQ(dims_of(pool1d(kMax, 3, 2, 1, 1), {{-2, 4, -3}}), (Dims{-2, 4, -1}));
  EXPECT_EQ(dims_of(pool1d(kMax, 3, 1, 1, 1), {{-2, 4, -3}}), (Dims{-2, 4, -3}));
}

TEST(Pooling, CeilModeDropsAWindowThatStartsInTheRightPadding) {
  // in 3, stride 3, padding 1 and 1: windows start at -1, 2 and 5; the input ends at 3.
  EXPECT_EQ(dims_of(with_ceil(pool1d(kMax, 2, 3, 1, 1)), {{1, 1, 3}}), (Dims{1, 1, 2}));
  EXPECT_EQ(dims_of(with_ceil(pool1d(kMax, 2, 2, 0, 0)), {{1, 1, 1 + 2}}), (Dims{1, 1, 2}));
  EXPECT_EQ(dims_of(with_ceil(pool1d(kMax, 1, 2, 0, 0)), {{1, 1, 4}}), (Dims{1, 1, 2}));
}

TEST(Pooling, MaxIgnoresPadding) {
  Tensor x = floats({1, 1, 4}, {-1, -2, -3, -4});
  EXPECT_EQ(values(run(pool1d(kMax, 2, 2, 1, 1), {x})), (Floats{-1, -2, -4}));
}

TEST(Pooling, MaxPassesNanOn) {
  Tensor y = run(pool1d(kMax, 2, 2), {floats({1, 1, 4}, {NAN, 2, 3, 1})});
  EXPECT_TRUE(std::isnan(values(y)[0]));
  EXPECT_EQ(values(y)[1], 3);
}

TEST(Pooling, MaxOfBytes) {
  Tensor y = run(pool1d(kMax, 2, 2), {Tensor::of<int8_t>({1, 1, 4}, {-5, -7, 3, 100})});
  EXPECT_EQ(values<int8_t>(y), (std::vector<int8_t>{-5, 100}));
}

TEST(Pooling, AverageCountsTheInputOrThePaddingToo) {
  Tensor x = floats({1, 1, 3}, {2, 4, 6});
  EXPECT_EQ(values(run(pool1d(kAverage, 3, 1, 1, 1), {x})), (Floats{3, 4, 5}));
  expect_near(run(with_padding(pool1d(kAverage, 3, 1, 1, 1)), {x}), {2, 4, 10.f / 3});
}

TEST(Pooling, AverageNeverCountsBeyondThePadding) {
  // Ceil mode lets the last window reach past input and padding: those elements divide nothing.
  Tensor x = floats({1, 1, 4}, {1, 2, 3, 8});
  EXPECT_EQ(values(run(with_ceil(pool1d(kAverage, 3, 2)), {x})), (Floats{2, 5.5}));
  EXPECT_EQ(values(run(with_padding(with_ceil(pool1d(kAverage, 3, 2))), {x})), (Floats{2, 5.5}));
  EXPECT_EQ(values(run(with_padding(with_ceil(pool1d(kAverage, 4, 3, 0, 1))), {x})),
            (Floats{3.5, 4}));
}

TEST(Pooling, DilationSkipsElements) {
  Tensor x = floats({1, 1, 5}, {9, 1, 2, 3, 4});
  EXPECT_EQ(values(run(pool1d(kMax, 2, 1, 0, 0, 2), {x})), (Floats{9, 3, 4}));
  EXPECT_EQ(values(run(pool1d(kAverage, 2, 1, 0, 0, 2), {x})), (Floats{5.5, 2, 3}));
}

TEST(Pooling, PlanesAndVolumes) {
  Pooling plane{kMax, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, false, false};
  EXPECT_EQ(values(run(plane, {counting({1, 2, 2, 4})})), (Floats{5, 7, 13, 15}));
  Pooling volume{kAverage, {2, 1, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, false, false};
  EXPECT_EQ(values(run(volume, {counting({1, 1, 2, 2, 2})})), (Floats{2.5, 4.5}));
}

TEST(Pooling, AnEmptyBatchWorks) {
  EXPECT_EQ(run(pool1d(kMax, 2, 2), {Tensor(DataType::float32, {0, 3, 4})}).dims(),
            (Dims{0, 3, 2}));
}

TEST(Pooling, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(pool1d(kMax, 5, 1), {f32({1, 1, 4})}), "does not fit");
  EXPECT_REFUSED(infer_of(pool1d(kMax, 0, 1), {f32({1, 1, 4})}), "kernel sizes");
  EXPECT_REFUSED(infer_of(pool1d(kMax, -3, 1), {f32({1, 1, 4})}), "kernel sizes");
  EXPECT_REFUSED(infer_of(pool1d(kMax, 2, 0), {f32({1, 1, 4})}), "strides");
  EXPECT_REFUSED(infer_of(pool1d(kMax, 2, 1, 2, 0), {f32({1, 1, 4})}), "padding smaller");
  EXPECT_REFUSED(infer_of(pool1d(kMax, 2, 1), {f32({1, 1, 4, 4})}), "expected 2 strides");
  EXPECT_REFUSED(infer_of(pool1d(kAverage, 2, 1), {TensorType{DataType::int8, {1, 1, 4}}}),
                 "floating");
}

TEST(GlobalPooling, ReducesEveryPlane) {
  Tensor x = counting({1, 2, 2, 2});
  EXPECT_EQ(values(run(GlobalPooling{kAverage}, {x})), (Floats{1.5, 5.5}));
  EXPECT_EQ(values(run(GlobalPooling{kMax}, {x})), (Floats{3, 7}));
  EXPECT_EQ(dims_of(GlobalPooling{}, {{-2, 8, -3, -4}}), (Dims{-2, 8, 1, 1}));
  EXPECT_REFUSED(infer_of(GlobalPooling{}, {f32({1, 2})}), "dimensions");
}

TEST(Pooling, TheLargestOfMinusInfinitiesIsMinusInfinity) {
  const Tensor x = floats({1, 1, 4}, {-kInfinity, -kInfinity, -kInfinity, 1});
  EXPECT_EQ(values(run(pool1d(kMax, 2, 2), {x})), (Floats{-kInfinity, 1}));
  EXPECT_EQ(values(run(GlobalPooling{kMax}, {floats({1, 1, 2}, {-kInfinity, -kInfinity})})),
            Floats{-kInfinity});
}

TEST(Pooling, AveragesInDouble) {
  EXPECT_EQ(values(run(pool1d(kAverage, 2, 2), {floats({1, 1, 2}, {3e38f, 3e38f})})),
            Floats{3e38f});
  EXPECT_EQ(values(run(GlobalPooling{}, {floats({1, 1, 4}, {1e8f, 2, 2, -1e8f})})), Floats{1});
}

TEST(Pooling, EachDimensionHasItsOwnStrideAndPads) {
  const Pooling op{kMax, {1, 2}, {2, 1}, {1, 1}, {0, 1}, {0, 0}, false, false};
  EXPECT_EQ(values(run(op, {counting({1, 1, 3, 2})})), (Floats{0, 1, 4, 5}));
}

TEST(Pooling, PadsAtOneEndAloneAreCountedThere) {
  const Tensor x = floats({1, 1, 2}, {4, 8});
  EXPECT_EQ(values(run(with_padding(pool1d(kAverage, 2, 1, 1, 0)), {x})), (Floats{2, 6}));
  EXPECT_EQ(values(run(with_padding(pool1d(kAverage, 2, 1, 0, 1)), {x})), (Floats{6, 4}));
}

TEST(GlobalPooling, PassesNanOnAndTakesBytesForMax) {
  EXPECT_TRUE(std::isnan(values(run(GlobalPooling{kMax}, {floats({1, 1, 2}, {1, NAN})}))[0]));
  EXPECT_EQ(values<uint8_t>(run(GlobalPooling{kMax}, {Tensor::of<uint8_t>({1, 1, 2}, {3, 200})})),
            std::vector<uint8_t>{200});
  EXPECT_REFUSED(infer_of(GlobalPooling{kAverage}, {TensorType{DataType::uint8, {1, 1, 2}}}),
                 "floating");
}

}  // namespace
}  // namespace enginery
