#include "engine/ops/matmul.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(MatMul, ShapesFollowNumpy) {
  EXPECT_EQ(dims_of(MatMul{}, {{2, 3}, {3, 4}}), (Dims{2, 4}));
  EXPECT_EQ(dims_of(MatMul{}, {{3}, {3}}), Dims{});
  EXPECT_EQ(dims_of(MatMul{}, {{3}, {5, 3, 4}}), (Dims{5, 4}));
  EXPECT_EQ(dims_of(MatMul{}, {{5, 2, 3}, {3}}), (Dims{5, 2}));
  EXPECT_EQ(dims_of(MatMul{}, {{7, 1, 2, 3}, {5, 3, 4}}), (Dims{7, 5, 2, 4}));
  EXPECT_EQ(dims_of(MatMul{}, {{-2, 128, -3}, {-3, 64}}), (Dims{-2, 128, 64}));
}

TEST(MatMul, Multiplies) {
  EXPECT_EQ(values(run(MatMul{}, {floats({2, 2}, {1, 2, 3, 4}), floats({2, 2}, {5, 6, 7, 8})})),
            (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run(MatMul{}, {floats({2}, {1, 2}), floats({2}, {3, 4})})), Floats{11});
}

TEST(MatMul, BroadcastsStacks) {
  Tensor a = floats({2, 1, 1, 2}, {1, 2, 3, 4}), b = floats({2, 2, 1}, {1, 1, 10, 100});
  EXPECT_EQ(values(run(MatMul{}, {a, b})), (Floats{3, 210, 7, 430}));
}

TEST(MatMul, LargeSizesMatchThePlainSum) {
  const int64_t m = 7, k = 5, n = 300;
  Tensor a = counting({m, k}), b = counting({k, n});
  Tensor y = run(MatMul{}, {a, b});
  for (int64_t i = 0; i < m * n; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += static_cast<double>(i / n * k + j) * static_cast<double>(j * n + i % n);
    ASSERT_EQ(y.data<float>()[i], static_cast<float>(sum));
  }
}

TEST(MatMul, IntegersWrap) {
  Tensor a = Tensor::of<int32_t>({1, 2}, {INT32_MAX, 1});
  EXPECT_EQ(values<int32_t>(run(MatMul{}, {a, Tensor::of<int32_t>({2, 1}, {1, 1})})),
            std::vector<int32_t>{INT32_MIN});
}

TEST(MatMul, NoInnerElementsGiveZeros) {
  EXPECT_EQ(
      values(run(MatMul{}, {Tensor(DataType::float32, {2, 0}), Tensor(DataType::float32, {0, 1})})),
      (Floats{0, 0}));
}

TEST(MatMul, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(MatMul{}, {f32({2, 3}), f32({4, 5})}), "inner sizes");
  EXPECT_REFUSED(infer_of(MatMul{}, {f32({2, 2, 3}), f32({3, 3, 5})}), "broadcast");
  EXPECT_REFUSED(infer_of(MatMul{}, {f32({}), f32({3})}), "dimensions");
  EXPECT_REFUSED(infer_of(MatMul{}, {f32({2, 3}), i64({3, 5})}), "one type");
}

TEST(Gemm, ScalesTransposesAndAdds) {
  Tensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(values(run(Gemm{}, {a, b, floats({2}, {100, 200})})), (Floats{119, 222, 143, 250}));
  EXPECT_EQ(values(run(Gemm{.transpose_a = true}, {a, b})), (Floats{26, 30, 38, 44}));
  EXPECT_EQ(values(run(Gemm{.transpose_b = true}, {a, b})), (Floats{17, 23, 39, 53}));
  EXPECT_EQ(values(run(Gemm{.alpha = 0.5f, .beta = 2}, {a, b, floats({2, 1}, {1, 10})})),
            (Floats{11.5, 13, 41.5, 45}));
}

TEST(Gemm, IntegersStayExact) {
  const int64_t big = (int64_t{1} << 60) + 1;
  Tensor a = Tensor::of<int64_t>({1, 1}, {big});
  EXPECT_EQ(values<int64_t>(run(Gemm{}, {a, Tensor::of<int64_t>({1, 1}, {1})})),
            std::vector<int64_t>{big});
}

TEST(Gemm, ShapesKeepSymbols) {
  EXPECT_EQ(dims_of(Gemm{.transpose_b = true}, {{-2, 2048}, {1000, 2048}, {1000}}),
            (Dims{-2, 1000}));
}

TEST(Gemm, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Gemm{}, {f32({2, 3}), f32({4, 5})}), "inner sizes");
  EXPECT_REFUSED(infer_of(Gemm{}, {f32({2, 3, 4}), f32({4, 5})}), "2 dimensions");
  EXPECT_REFUSED(infer_of(Gemm{}, {f32({2, 3}), f32({3, 5}), f32({4})}), "does not broadcast");
  EXPECT_REFUSED(infer_of(Gemm{}, {f32({1, 3}), f32({3, 5}), f32({2, 5})}), "does not broadcast");
  EXPECT_REFUSED(infer_of(Gemm{}, {f32({2, 3}), f32({3, 5}), f32({1, 2, 5})}),
                 "does not broadcast");
}

TEST(MatMul, AVectorIsARowOnTheLeftAndAColumnOnTheRight) {
  const Tensor m = floats({2, 2}, {1, 2, 3, 4}), v = floats({2}, {10, 100});
  EXPECT_EQ(values(run(MatMul{}, {v, m})), (Floats{310, 420}));
  EXPECT_EQ(values(run(MatMul{}, {m, v})), (Floats{210, 430}));
}

TEST(MatMul, SumsInDouble) {
  // In float the one would vanish beside 1e8 before 1e8 is taken away again.
  EXPECT_EQ(values(run(MatMul{}, {floats({1, 3}, {1e8f, 1, -1e8f}), floats({3, 1}, {1, 1, 1})})),
            Floats{1});
}

TEST(MatMul, AnEmptyStackGivesAnEmptyStack) {
  EXPECT_EQ(run(MatMul{}, {Tensor(DataType::float32, {0, 2, 3}), counting({3, 4})}).dims(),
            (Dims{0, 2, 4}));
}

TEST(MatMul, TakesNoSmallIntegers) {
  const TensorType bytes{DataType::int8, {2, 2}};
  EXPECT_REFUSED(infer_of(MatMul{}, {bytes, bytes}), "32- or 64-bit integers, got int8");
}

TEST(Gemm, TransposesBothAndBroadcastsAScalar) {
  const Tensor a = floats({2, 1}, {2, 3}), b = floats({1, 2}, {5, 7});
  const Gemm both{.transpose_a = true, .transpose_b = true};
  EXPECT_EQ(values(run(both, {a, b, floats({}, {100})})), Floats{131});
}

TEST(Gemm, WithoutCItsFactorDoesNotMatter) {
  EXPECT_EQ(values(run(Gemm{.beta = kInfinity}, {floats({1, 1}, {2}), floats({1, 1}, {3})})),
            Floats{6});
}

TEST(Gemm, NoInnerElementsLeaveC) {
  EXPECT_EQ(values(run(Gemm{.beta = 2}, {Tensor(DataType::float32, {1, 0}),
                                         Tensor(DataType::float32, {0, 2}), floats({2}, {1, 4})})),
            (Floats{2, 8}));
}

TEST(Gemm, IntegersUnderAFactorTruncateAndSaturate) {
  const auto gemm = [](float alpha, int32_t a) {
    return values<int32_t>(run(Gemm{.alpha = alpha}, {Tensor::of<int32_t>({1, 1}, {a}),
                                                      Tensor::of<int32_t>({1, 1}, {1})}))[0];
  };
  EXPECT_EQ(gemm(0.5f, 7), 3);
  EXPECT_EQ(gemm(0.5f, -7), -3);
  EXPECT_EQ(gemm(4, INT32_MAX), INT32_MAX);
}

}  // namespace
}  // namespace enginery
