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

}  // namespace
}  // namespace enginery
