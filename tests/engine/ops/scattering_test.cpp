#include "engine/ops/scattering.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

Tensor indices(Dims dims, std::initializer_list<int64_t> v) {
  return Tensor::of<int64_t>(std::move(dims), v);
}

TEST(GatherNd, AddressesBlocks) {
  Tensor x = counting({2, 2, 2});
  EXPECT_EQ(values(run(GatherNd{}, {x, indices({2, 1}, {1, -2})})),
            (Floats{4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ(values(run(GatherNd{}, {x, indices({2, 3}, {0, 1, 1, 1, 0, -1})})), (Floats{3, 5}));
  EXPECT_EQ(values(run(GatherNd{1}, {x, indices({2, 1}, {1, 0})})), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(infer_of(GatherNd{}, {f32({-2, 3, 4}), i64({-3, 5, 2})})->at(0).dims, (Dims{-3, 5, 4}));
}

TEST(GatherNd, SaysWhatItExpected) {
  EXPECT_REFUSED(try_run(GatherNd{}, {counting({2, 2}), indices({1, 1}, {2})}), "index 2");
  EXPECT_REFUSED(infer_of(GatherNd{}, {f32({2, 2}), i64({1, 3})}), "index tuples of 1 to 2");
  EXPECT_REFUSED(infer_of(GatherNd{2}, {f32({2, 2}), i64({2, 2})}), "fewer batch_dims");
  EXPECT_REFUSED(infer_of(GatherNd{-1}, {f32({2, 2}), i64({2, 2})}), "fewer batch_dims");
  EXPECT_REFUSED(infer_of(GatherNd{1}, {f32({2, 2}), i64({3, 1})}), "batch dimensions");
  EXPECT_EQ(refusal(infer_of(GatherNd{}, {f32({2, 2}), i64({1, -1})})).substr(0, 11),
            "unsupported");
}

TEST(ScatterElements, WritesElementByElement) {
  Tensor x = counting({2, 2}), at = indices({1, 2}, {1, -2}), updates = floats({1, 2}, {10, 20});
  EXPECT_EQ(values(run(ScatterElements{}, {x, at, updates})), (Floats{0, 20, 10, 3}));
  EXPECT_EQ(
      values(run(ScatterElements{.axis = 1}, {x, indices({2, 1}, {1, 0}), floats({2, 1}, {7, 8})})),
      (Floats{0, 7, 8, 3}));
}

TEST(ScatterElements, CombinesByItsKind) {
  auto twice = [](ScatterKind kind) {  // 3 and 5 both meet the element 4
    return values(run(ScatterElements{kind, 0},
                      {floats({1}, {4}), ints({0, 0}).reshaped({2}), floats({2}, {3, 5})}))[0];
  };
  EXPECT_EQ(twice(ScatterKind::replace), 5);
  EXPECT_EQ(twice(ScatterKind::add), 12);
  EXPECT_EQ(twice(ScatterKind::mul), 60);
  EXPECT_EQ(twice(ScatterKind::min), 3);
  EXPECT_EQ(twice(ScatterKind::max), 5);
}

TEST(ScatterElements, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(ScatterElements{}, {f32({2, 2}), i64({1, 2}), f32({2, 2})}), "one shape");
  EXPECT_REFUSED(infer_of(ScatterElements{}, {f32({2, 2}), i64({1, 3}), f32({1, 3})}),
                 "within 2x2");
  EXPECT_REFUSED(try_run(ScatterElements{}, {floats({1}, {1}), ints({1}), floats({1}, {1})}),
                 "index 1");
  TensorType flags{DataType::boolean, {1}};
  EXPECT_REFUSED(infer_of(ScatterElements{ScatterKind::add, 0}, {flags, i64({1}), flags}),
                 "add of boolean");
}

TEST(ScatterNd, WritesBlocks) {
  Tensor x = counting({3, 2});
  EXPECT_EQ(values(run(ScatterNd{}, {x, indices({2, 1}, {2, 0}), floats({2, 2}, {7, 8, 9, 10})})),
            (Floats{9, 10, 2, 3, 7, 8}));
  EXPECT_EQ(values(run(ScatterNd{ScatterKind::add},
                       {x, indices({2, 2}, {0, 1, 0, 1}), floats({2}, {10, 100})})),
            (Floats{0, 111, 2, 3, 4, 5}));
}

TEST(ScatterNd, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(ScatterNd{}, {f32({3, 2}), i64({2, 1}), f32({2})}), "updates of 2x2");
  EXPECT_REFUSED(infer_of(ScatterNd{}, {f32({3, 2}), i64({2, 0}), f32({2, 3, 2})}), "index tuples");
  EXPECT_REFUSED(try_run(ScatterNd{}, {counting({2}), indices({1, 1}, {-3}), floats({1}, {1})}),
                 "index -3");
}

TEST(GatherNd, KeepsBatchDimensionsApart) {
  // Two batches of 2 x 2: the same index tuple finds each batch's own row.
  const Tensor x = counting({2, 2, 2});
  EXPECT_EQ(values(run(GatherNd{1}, {x, indices({2, 1, 2}, {1, 0, 0, 1})})), (Floats{2, 5}));
  EXPECT_EQ(run(GatherNd{}, {x, Tensor(DataType::int64, {0, 2})}).dims(), (Dims{0, 2}));
}

TEST(ScatterElements, CountsAxisAndIndicesFromTheEnd) {
  EXPECT_EQ(values(run(ScatterElements{.axis = -1},
                       {counting({1, 3}), indices({1, 1}, {-1}), floats({1, 1}, {9})})),
            (Floats{0, 1, 9}));
}

TEST(ScatterElements, NoUpdatesLeaveTheDataAsItIs) {
  EXPECT_EQ(values(run(ScatterElements{}, {counting({2}), Tensor(DataType::int64, {0}),
                                           Tensor(DataType::float32, {0})})),
            (Floats{0, 1}));
}

TEST(ScatterElements, IntegersWrap) {
  const auto scatter = [](ScatterKind kind) {
    return values<int8_t>(run(ScatterElements{kind, 0}, {Tensor::of<int8_t>({1}, {100}), ints({0}),
                                                         Tensor::of<int8_t>({1}, {100})}))[0];
  };
  EXPECT_EQ(scatter(ScatterKind::add), -56);
  EXPECT_EQ(scatter(ScatterKind::mul), 16);
}

TEST(ScatterNd, LaterUpdatesReplaceEarlierOnes) {
  EXPECT_EQ(
      values(run(ScatterNd{}, {counting({2}), indices({2, 1}, {1, -1}), floats({2}, {7, 8})})),
      (Floats{0, 8}));
}

TEST(ScatterNd, CombinesByItsKind) {
  const auto twice = [](ScatterKind kind) {
    return values(
        run(ScatterNd{kind}, {floats({1}, {4}), indices({2, 1}, {0, 0}), floats({2}, {3, 5})}))[0];
  };
  EXPECT_EQ(twice(ScatterKind::mul), 60);
  EXPECT_EQ(twice(ScatterKind::min), 3);
  EXPECT_EQ(twice(ScatterKind::max), 5);
}

}  // namespace
}  // namespace enginery
