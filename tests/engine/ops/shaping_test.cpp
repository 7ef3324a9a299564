#include "engine/ops/shaping.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

std::string unsupported(const InferredTypes& r) {
  return refusal(r).substr(0, 11);
}

TEST(Reshape, InfersCopiesAndKeepsSymbols) {
  EXPECT_EQ(dims_with(Reshape{}, {2, 3, 4}, {ints({0, -1})}), (Dims{2, 12}));
  EXPECT_EQ(dims_with(Reshape{}, {2, 3, 4}, {ints({-1})}), Dims{24});
  EXPECT_EQ(dims_with(Reshape{}, {1}, {Tensor(DataType::int64, {0})}), Dims{});
  EXPECT_EQ(dims_with(Reshape{}, {-2, 512, 1, 1}, {ints({0, -1})}), (Dims{-2, 512}));
  EXPECT_EQ(dims_with(Reshape{}, {-2, 1, 1}, {ints({-1, 1})}), (Dims{-2, 1}));
  EXPECT_EQ(dims_with(Reshape{}, {-2, 6}, {ints({-1, 3})}), (Dims{-1, 3}));
  EXPECT_EQ(dims_with(Reshape{}, {-2, 6, -3}, {ints({0, 2, 3, -1})}), (Dims{-2, 2, 3, -1}));
}

TEST(Reshape, HandlesEmptyTensors) {
  EXPECT_EQ(dims_with(Reshape{}, {0, 3}, {ints({0, -1})}), (Dims{0, 3}));
  EXPECT_EQ(dims_with(Reshape{.allow_zero = true}, {0, 3}, {ints({3, 0})}), (Dims{3, 0}));
  EXPECT_EQ(run(Reshape{}, {Tensor(DataType::int8, {0, 3}), ints({0, 9})}).dims(), (Dims{0, 9}));
}

TEST(Reshape, AShapeKnownAtRunTimeGivesTheRank) {
  EXPECT_EQ(infer_of(Reshape{}, {f32({2, 3}), i64({3})})->at(0).dims, (Dims{-1, -1, -1}));
  EXPECT_EQ(unsupported(infer_of(Reshape{}, {f32({2, 3}), i64({-1})})), "unsupported");
}

TEST(Reshape, SaysWhatItExpected) {
  auto with = [](Reshape op, const Tensor& shape) {
    return try_run(op, {counting({2, 3}), shape});
  };
  EXPECT_REFUSED(with({}, ints({4, 2})), "2x3 does not reshape to [4,2]");
  EXPECT_REFUSED(with({}, ints({-1, 4})), "does not reshape");
  EXPECT_REFUSED(with({}, ints({-1, -1})), "at most one -1");
  EXPECT_REFUSED(with({}, ints({-2, 3})), "at least -1");
  EXPECT_REFUSED(with({}, ints({2, 3, 0})), "0 copies dimension 2");
  EXPECT_REFUSED(with({.allow_zero = true}, ints({0, -1})), "does not reshape");
  EXPECT_REFUSED(with({.allow_zero = true}, ints({0, 3})), "does not reshape");
  EXPECT_REFUSED(with({}, ints({INT64_MAX, INT64_MAX})), "2^40");
  EXPECT_REFUSED(with({}, floats({1}, {6})), "int64 vector");
}

TEST(Transpose, MovesElements) {
  EXPECT_EQ(values(run(Transpose{{1, 0}}, {counting({2, 3})})), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values(run(Transpose{{2, 0, 1}}, {counting({2, 2, 2})})),
            (Floats{0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_EQ(values(run(Transpose{}, {counting({2, 3})})), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values<uint8_t>(run(Transpose{{1, 0}}, {Tensor::of<uint8_t>({2, 2}, {1, 2, 3, 4})})),
            (std::vector<uint8_t>{1, 3, 2, 4}));
  EXPECT_EQ(dims_of(Transpose{{2, 0, 1}}, {{-2, 3, -4}}), (Dims{-4, -2, 3}));
  EXPECT_EQ(run(Transpose{}, {floats({}, {7})}).rank(), 0);
}

TEST(Transpose, SaysWhatItExpected) {
  for (const Dims& bad : {Dims{0}, Dims{0, 0}, Dims{0, 2}, Dims{-1, 0}, Dims{0, 1, 2}}) {
    EXPECT_REFUSED(infer_of(Transpose{bad}, {f32({2, 3})}), "permutation of 2");
  }
}

TEST(Flatten, MakesAMatrix) {
  EXPECT_EQ(dims_of(Flatten{}, {{2, 3, 4}}), (Dims{2, 12}));
  EXPECT_EQ(dims_of(Flatten{0}, {{2, 3, 4}}), (Dims{1, 24}));
  EXPECT_EQ(dims_of(Flatten{3}, {{2, 3, 4}}), (Dims{24, 1}));
  EXPECT_EQ(dims_of(Flatten{-1}, {{2, 3, 4}}), (Dims{6, 4}));
  EXPECT_EQ(dims_of(Flatten{}, {{-2, 3, -4}}), (Dims{-2, -1}));
  EXPECT_EQ(dims_of(Flatten{}, {{-2, 512, 1, 1}}), (Dims{-2, 512}));
  EXPECT_REFUSED(infer_of(Flatten{4}, {f32({2, 3, 4})}), "axis 4");
}

TEST(Squeeze, DropsOnes) {
  EXPECT_EQ(dims_with(Squeeze{}, {1, 3, 1}, {}), Dims{3});
  EXPECT_EQ(dims_with(Squeeze{}, {1, 3, 1}, {ints({-1})}), (Dims{1, 3}));
  EXPECT_EQ(dims_with(Squeeze{}, {-2, 3, 1}, {ints({2})}), (Dims{-2, 3}));
  EXPECT_EQ(unsupported(infer_of(Squeeze{}, {f32({-2, 1})})), "unsupported");
  EXPECT_REFUSED(try_run(Squeeze{}, {counting({2, 1}), ints({0})}), "is not 1");
  EXPECT_REFUSED(try_run(Squeeze{}, {counting({1, 1}), ints({0, -2})}), "named twice");
  EXPECT_REFUSED(try_run(Squeeze{}, {counting({1, 1}), ints({5})}), "axis 5");
}

TEST(Unsqueeze, AddsOnes) {
  EXPECT_EQ(dims_with(Unsqueeze{}, {2, 3}, {ints({0, -1})}), (Dims{1, 2, 3, 1}));
  EXPECT_EQ(dims_with(Unsqueeze{}, {-2}, {ints({1})}), (Dims{-2, 1}));
  EXPECT_REFUSED(try_run(Unsqueeze{}, {counting({2}), ints({1, -2})}), "axis");
  EXPECT_REFUSED(try_run(Unsqueeze{}, {counting({2}), ints({1, 1})}), "named twice");
  EXPECT_EQ(unsupported(infer_of(Unsqueeze{}, {f32({2}), i64({1})})), "unsupported");
}

TEST(Shape, GivesTheDimsOrSomeOfThem) {
  EXPECT_EQ(values<int64_t>(run(Shape{}, {counting({2, 3, 4})})), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(values<int64_t>(run(Shape{-2, INT64_MAX}, {counting({2, 3, 4})})),
            (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(values<int64_t>(run(Shape{0, -1}, {counting({2, 3, 4})})),
            (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(run(Shape{2, 1}, {counting({2, 3, 4})}).dims(), Dims{0});
  EXPECT_EQ(infer_of(Shape{INT64_MIN, INT64_MAX}, {f32({-1, -2})})->at(0), i64({2}));
}

TEST(Expand, BroadcastsBothWays) {
  EXPECT_EQ(values(run(Expand{}, {floats({2, 1}, {1, 2}), ints({3, 1, 2})})),
            (Floats{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2, 2}));
  EXPECT_EQ(dims_with(Expand{}, {3, 4}, {ints({1})}), (Dims{3, 4}));
  EXPECT_EQ(dims_with(Expand{}, {-2, 1}, {ints({1, 5})}), (Dims{-2, 5}));
  EXPECT_EQ(run(Expand{}, {floats({1}, {1}), ints({0})}).dims(), Dims{0});
  EXPECT_REFUSED(try_run(Expand{}, {counting({2}), ints({3})}), "do not broadcast");
  EXPECT_REFUSED(try_run(Expand{}, {counting({2}), ints({-1})}), "at least 0");
  EXPECT_REFUSED(try_run(Expand{}, {counting({1}), ints({INT64_MAX, INT64_MAX})}), "2^40");
}

TEST(Identity, GivesItsInput) {
  Tensor y = run(Identity{}, {Tensor::of<int8_t>({2}, {1, -1})});
  EXPECT_EQ(values<int8_t>(y), (std::vector<int8_t>{1, -1}));
  EXPECT_EQ(dims_of(Identity{}, {{-2, 3}}), (Dims{-2, 3}));
}

TEST(Reshape, AnEmptyTargetNeedsOneElement) {
  EXPECT_EQ(run(Reshape{}, {floats({1, 1}, {7}), Tensor(DataType::int64, {0})}).rank(), 0);
  EXPECT_REFUSED(try_run(Reshape{}, {counting({2}), Tensor(DataType::int64, {0})}),
                 "does not reshape");
}

TEST(Transpose, AgreesWithItsDefinitionInFourDimensions) {
  const Dims dims{2, 3, 4, 5};
  const Tensor x = counting(dims);
  const Dims from = strides_of(dims);
  for (const std::vector<int64_t>& p :
       {std::vector<int64_t>{0, 2, 3, 1}, {3, 2, 1, 0}, {0, 3, 1, 2}, {1, 0, 3, 2}}) {
    const Tensor y = run(Transpose{p}, {x});
    const Dims strides = strides_of(y.dims());
    for (int64_t i = 0; i < y.size(); ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < 4; ++d)
        at += i / strides[d] % y.dims()[d] * from[static_cast<size_t>(p[d])];
      ASSERT_EQ(y.data<float>()[static_cast<size_t>(i)], static_cast<float>(at)) << ints_text(p);
    }
  }
}

TEST(Flatten, OfAScalarIsOneByOne) {
  EXPECT_EQ(dims_of(Flatten{0}, {{}}), (Dims{1, 1}));
  EXPECT_REFUSED(infer_of(Flatten{1}, {f32({})}), "axis 1 is outside [0, 0]");
}

TEST(Squeeze, TakesARunTimeSizeAtItsWord) {
  EXPECT_EQ(dims_with(Squeeze{}, {-2, 3}, {ints({0})}), Dims{3});
  EXPECT_EQ(run(Squeeze{}, {floats({1, 1}, {4})}).rank(), 0);
}

TEST(Shape, OfAScalarIsEmptyAndTellsRunTimeSizesApart) {
  EXPECT_EQ(run(Shape{}, {floats({}, {1})}).dims(), Dims{0});
  EXPECT_EQ(run(Shape{-100, 100}, {counting({2, 3})}).dims(), Dims{2});
}

TEST(Expand, KeepsEveryType) {
  const Tensor y = run(Expand{}, {Tensor::of<int64_t>({1, 2}, {INT64_MAX, 5}), ints({2, 1})});
  EXPECT_EQ(values<int64_t>(y), (std::vector<int64_t>{INT64_MAX, 5, INT64_MAX, 5}));
}

TEST(Expand, AShapeKnownAtRunTimeGivesTheLargerRank) {
  EXPECT_EQ(infer_of(Expand{}, {f32({2, 3}), i64({3})})->at(0).dims, (Dims{-1, -1, -1}));
  EXPECT_EQ(infer_of(Expand{}, {f32({2, 3}), i64({1})})->at(0).dims, (Dims{-1, -1}));
}

}  // namespace
}  // namespace enginery
