#include "engine/ops/slicing.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(Concat, JoinsAlongItsAxis) {
  Tensor a = counting({2, 2}), b = floats({2, 1}, {8, 9});
  EXPECT_EQ(values(run(Concat{1}, {a, b})), (Floats{0, 1, 8, 2, 3, 9}));
  EXPECT_EQ(values(run(Concat{-2}, {a, floats({1, 2}, {8, 9})})), (Floats{0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(values<int64_t>(run(Concat{0}, {ints({1}), ints({}), ints({2, 3})})),
            (std::vector<int64_t>{1, 2, 3}));
}

TEST(Concat, SymbolsTakeKnownSizesAndSumsAreUnknown) {
  EXPECT_EQ(dims_of(Concat{1}, {{-2, 3, -3}, {-2, 4, 7}}), (Dims{-2, 7, 7}));
  EXPECT_EQ(dims_of(Concat{0}, {{-2, 3}, {1, 3}}), (Dims{-1, 3}));
}

TEST(Concat, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Concat{1}, {f32({2, 3}), f32({3, 3})}), "does not join");
  EXPECT_REFUSED(infer_of(Concat{1}, {f32({2, 3}), f32({2})}), "does not join");
  EXPECT_REFUSED(infer_of(Concat{2}, {f32({2, 3})}), "axis 2");
  EXPECT_REFUSED(infer_of(Concat{0}, {f32({2}), i64({2})}), "one type");
  const int64_t huge = int64_t{1} << 38;
  EXPECT_REFUSED(infer_of(Concat{0}, {f32({huge}), f32({huge})}), "2^40");
}

TEST(Split, CutsAlongItsAxis) {
  auto parts = try_run(Split{1, {1, 2}}, {counting({2, 3})});
  ASSERT_TRUE(parts);
  EXPECT_EQ(values((*parts)[0]), (Floats{0, 3}));
  EXPECT_EQ(values((*parts)[1]), (Floats{1, 2, 4, 5}));
  EXPECT_EQ(infer_of(Split{0, {1, 2}}, {f32({-2, 3})})->at(1).dims, (Dims{2, 3}));
}

TEST(Split, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Split{0, {1, 1}}, {f32({3})}), "do not add up");
  EXPECT_REFUSED(infer_of(Split{0, {-1, 4}}, {f32({3})}), "at least 0");
  EXPECT_REFUSED(infer_of(Split{0, {INT64_MAX, INT64_MAX}}, {f32({3})}), "at least 0");
  EXPECT_REFUSED(infer_of(Split{0, {}}, {f32({3})}), "one for each output");
}

Tensor slice(const Tensor& x, std::initializer_list<int64_t> starts,
             std::initializer_list<int64_t> ends, std::initializer_list<int64_t> axes,
             std::initializer_list<int64_t> steps) {
  return run(Slice{}, {x, ints(starts), ints(ends), ints(axes), ints(steps)});
}

TEST(Slice, TakesRangesWithSteps) {
  Tensor x = counting({2, 4});
  EXPECT_EQ(values(slice(x, {0, 1}, {2, 3}, {0, 1}, {1, 1})), (Floats{1, 2, 5, 6}));
  EXPECT_EQ(values(slice(x, {1}, {100}, {1}, {2})), (Floats{1, 3, 5, 7}));
  EXPECT_EQ(values(slice(x, {-1}, {-5}, {-1}, {-1})), (Floats{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(values(slice(x, {-1}, {INT64_MIN}, {1}, {-3})), (Floats{3, 0, 7, 4}));
  EXPECT_EQ(values(slice(x, {3}, {0}, {1}, {INT64_MIN})), (Floats{3, 7}));
  EXPECT_EQ(values(run(Slice{}, {x, ints({1}), ints({2})})), (Floats{4, 5, 6, 7}));
}

TEST(Slice, OutsideIsEmpty) {
  EXPECT_EQ(slice(counting({2, 4}), {3}, {1}, {1}, {1}).dims(), (Dims{2, 0}));
  EXPECT_EQ(slice(counting({2, 4}), {20}, {30}, {1}, {1}).dims(), (Dims{2, 0}));
  EXPECT_EQ(slice(Tensor(DataType::float32, {0}), {0}, {5}, {0}, {-1}).dims(), Dims{0});
}

TEST(Slice, RunTimeSizesStayOnlyWhereNothingIsCut) {
  EXPECT_EQ(
      dims_with(Slice{}, {-2, -3}, {ints({0, 1}), ints({INT64_MAX, INT64_MAX}), ints({0, 1})}),
      (Dims{-2, -1}));
  EXPECT_EQ(infer_of(Slice{}, {f32({2, 3}), i64({1}), i64({1})})->at(0).dims, (Dims{-1, -1}));
}

TEST(Slice, SaysWhatItExpected) {
  auto with = [](Tensor starts, Tensor ends, Tensor axes, Tensor steps) {
    return try_run(Slice{}, {counting({2, 4}), starts, ends, axes, steps});
  };
  EXPECT_REFUSED(with(ints({0}), ints({1}), ints({0}), ints({0})), "steps other than 0");
  EXPECT_REFUSED(with(ints({0}), ints({1}), ints({2}), ints({1})), "axis 2");
  EXPECT_REFUSED(with(ints({0, 0}), ints({1, 1}), ints({0, -2}), ints({1, 1})), "named twice");
  EXPECT_REFUSED(with(ints({0, 0}), ints({1}), ints({0, 1}), ints({1, 1})), "one length");
  EXPECT_REFUSED(with(ints({0, 0, 0}), ints({1, 1, 1}), none(), none()), "axis 2");
}

TEST(Gather, PicksAlongItsAxis) {
  Tensor x = counting({2, 3});
  EXPECT_EQ(values(run(Gather{1}, {x, ints({2, -3})})), (Floats{2, 0, 5, 3}));
  Tensor scalar_index = run(Gather{0}, {x, Tensor::scalar<int64_t>(1)});
  EXPECT_EQ(scalar_index.dims(), Dims{3});
  EXPECT_EQ(values(scalar_index), (Floats{3, 4, 5}));
  EXPECT_EQ(infer_of(Gather{0}, {f32({5, -2}), i64({-3, 4})})->at(0).dims, (Dims{-3, 4, -2}));
}

TEST(Gather, SaysWhatItExpected) {
  EXPECT_REFUSED(try_run(Gather{0}, {counting({2}), ints({2})}), "index 2 is outside [-2, 2)");
  EXPECT_REFUSED(try_run(Gather{0}, {counting({2}), ints({-3})}), "index -3");
  EXPECT_REFUSED(try_run(Gather{0}, {counting({2}), floats({1}, {0})}), "int32 or int64");
  EXPECT_REFUSED(infer_of(Gather{1}, {f32({2}), i64({1})}), "axis 1");
  // Without a constant the reference itself has to notice.
  Tensor x = counting({2}), index = ints({7}), y(DataType::float32, {1});
  std::vector<const Tensor*> in{&x, &index};
  EXPECT_FALSE(reference(Gather{0}, in, {&y, 1}));
}

TEST(GatherElements, PicksElementByElement) {
  Tensor x = counting({2, 2});
  Tensor index = Tensor::of<int64_t>({2, 2}, {0, 0, 1, 0});
  EXPECT_EQ(values(run(GatherElements{1}, {x, index})), (Floats{0, 0, 3, 2}));
  EXPECT_EQ(values(run(GatherElements{0}, {x, Tensor::of<int32_t>({1, 2}, {1, -2})})),
            (Floats{2, 1}));
  EXPECT_REFUSED(infer_of(GatherElements{0}, {f32({2, 2}), i64({2, 3})}), "lie within 2x2");
  EXPECT_REFUSED(infer_of(GatherElements{0}, {f32({2, 2}), i64({2})}), "lie within 2x2");
  EXPECT_REFUSED(try_run(GatherElements{0}, {x, Tensor::of<int64_t>({1, 1}, {2})}), "index 2");
}

TEST(Concat, PiecesOfNoElementsAddNothing) {
  const Tensor empty(DataType::float32, {2, 0});
  EXPECT_EQ(values(run(Concat{1}, {empty, counting({2, 2}), empty})), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(run(Concat{0}, {Tensor(DataType::float32, {0, 3})}).dims(), (Dims{0, 3}));
}

TEST(Concat, ASymbolSurvivesBesideNothing) {
  EXPECT_EQ(dims_of(Concat{0}, {{-2, 3}, {0, 3}}), (Dims{-2, 3}));
  EXPECT_EQ(dims_of(Concat{0}, {{0, 3}, {-2, 3}}), (Dims{-2, 3}));
}

TEST(Split, CutsAMiddleAxisAndLeavesEmptyPieces) {
  const auto parts = try_run(Split{1, {2, 0, 1}}, {counting({2, 3, 2})});
  ASSERT_TRUE(parts);
  EXPECT_EQ(values((*parts)[0]), (Floats{0, 1, 2, 3, 6, 7, 8, 9}));
  EXPECT_EQ((*parts)[1].dims(), (Dims{2, 0, 2}));
  EXPECT_EQ(values((*parts)[2]), (Floats{4, 5, 10, 11}));
}

TEST(Slice, NegativePositionsCountFromTheEndBeforeTheyAreClamped) {
  const Tensor x = counting({5});
  EXPECT_EQ(values(slice(x, {-3}, {-1}, {0}, {1})), (Floats{2, 3}));
  EXPECT_EQ(values(slice(x, {-100}, {-3}, {0}, {1})), (Floats{0, 1}));
  EXPECT_EQ(values(slice(x, {100}, {-100}, {0}, {-2})), (Floats{4, 2, 0}));
  EXPECT_EQ(values(slice(x, {-1}, {-2}, {0}, {-1})), Floats{4});
}

TEST(Slice, CutsThreeDimensionsAtOnce) {
  EXPECT_EQ(values(slice(counting({2, 3, 4}), {-1, 2, 0}, {-3, 0, 4}, {0, 1, 2}, {-1, -1, 3})),
            (Floats{20, 23, 16, 19, 8, 11, 4, 7}));
}

TEST(Slice, AxesKnownWithoutPositionsLeaveTheOthersKnown) {
  const Tensor axes = ints({1});
  const std::vector<Operand> in = {{true, f32({2, 3}), nullptr},
                                   {true, i64({1}), nullptr},
                                   {true, i64({1}), nullptr},
                                   {true, i64({1}), &axes}};
  EXPECT_EQ(infer_types(Slice{}, in)->at(0).dims, (Dims{2, -1}));
}

TEST(SliceDims, SayWhereEachDimensionStarts) {
  const std::vector<int64_t> axes{1}, steps{-2};
  const auto dims = slice_dims({3, 7}, {-1}, {0}, &axes, &steps);
  ASSERT_TRUE(dims.ok());
  EXPECT_EQ(dims->at(0).size, 3);  // not named: all of it
  EXPECT_EQ(dims->at(1).start, 6);
  EXPECT_EQ(dims->at(1).step, -2);
  EXPECT_EQ(dims->at(1).size, 3);
}

TEST(Gather, TakesPositionsOfAnyShapeAtAnyAxis) {
  const Tensor index = Tensor::of<int32_t>({2, 2}, {0, -1, 1, 0});
  const Tensor y = run(Gather{1}, {counting({2, 3, 1}), index});
  EXPECT_EQ(y.dims(), (Dims{2, 2, 2, 1}));
  EXPECT_EQ(values(y), (Floats{0, 2, 1, 0, 3, 5, 4, 3}));
}

TEST(Gather, OfNothingIsNothing) {
  EXPECT_EQ(run(Gather{0}, {counting({2, 3}), ints({})}).dims(), (Dims{0, 3}));
  EXPECT_EQ(run(Gather{0}, {Tensor(DataType::float32, {0, 3}), ints({})}).dims(), (Dims{0, 3}));
  EXPECT_REFUSED(try_run(Gather{0}, {Tensor(DataType::float32, {0}), ints({0})}), "index 0");
}

TEST(GatherElements, ReadsWithinASmallerWindow) {
  // Indices may be smaller than the data except along the axis, where they may be longer.
  EXPECT_EQ(
      values(run(GatherElements{1}, {counting({2, 2}), Tensor::of<int64_t>({1, 3}, {1, 0, -1})})),
      (Floats{1, 0, 1}));
}

}  // namespace
}  // namespace enginery
