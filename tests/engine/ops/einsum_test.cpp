#include "engine/ops/einsum.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(Einsum, MultipliesTransposesAndSums) {
  Tensor a = floats({2, 2}, {1, 2, 3, 4}), b = floats({2, 2}, {5, 6, 7, 8});
  EXPECT_EQ(values(run(Einsum{"ij,jk->ik"}, {a, b})), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run(Einsum{"ij,jk"}, {a, b})), (Floats{19, 22, 43, 50}));
  EXPECT_EQ(values(run(Einsum{"ij->ji"}, {a})), (Floats{1, 3, 2, 4}));
  EXPECT_EQ(values(run(Einsum{"ij->i"}, {a})), (Floats{3, 7}));
  EXPECT_EQ(values(run(Einsum{"ij->"}, {a})), Floats{10});
  EXPECT_EQ(values(run(Einsum{"ii->i"}, {a})), (Floats{1, 4}));
  EXPECT_EQ(values(run(Einsum{"i,i"}, {floats({2}, {1, 2}), floats({2}, {3, 4})})), Floats{11});
  EXPECT_EQ(values(run(Einsum{"ba"}, {a})),
            (Floats{1, 3, 2, 4}));  // the implied output is in alphabetical order
}

TEST(Einsum, DotsBroadcast) {
  Tensor a = counting({2, 1, 2}), b = counting({2, 3});
  Tensor y = run(Einsum{"...ij,jk->...ik"}, {a, b});
  EXPECT_EQ(y.dims(), (Dims{2, 1, 3}));
  EXPECT_EQ(values(y), (Floats{3, 4, 5, 9, 14, 19}));
  EXPECT_EQ(run(Einsum{"...,..."}, {counting({2, 1, 3}), counting({4, 1})}).dims(),
            (Dims{2, 4, 3}));
}

TEST(Einsum, ShapesKeepSymbols) {
  EXPECT_EQ(dims_of(Einsum{"bhid,bhjd->bhij"}, {{-2, 8, -3, 64}, {-2, 8, -3, 64}}),
            (Dims{-2, 8, -3, -3}));
}

TEST(Einsum, NothingToSumIsZero) {
  EXPECT_EQ(values(run(Einsum{"ij->i"}, {Tensor(DataType::float32, {2, 0})})), (Floats{0, 0}));
}

TEST(Einsum, SaysWhatItExpected) {
  auto with = [](const char* equation, Dims a, Dims b) {
    return infer_of(Einsum{equation}, {f32(a), f32(b)});
  };
  EXPECT_REFUSED(with("ij->ij", {2, 2}, {2, 2}), "1 terms for 2 inputs");
  EXPECT_REFUSED(with("ij,jk->ik", {2, 3}, {4, 5}), "3 against 4");
  EXPECT_REFUSED(with("ij,jk->ik", {2, 3, 4}, {4, 5}), "does not fit 2x3x4");
  EXPECT_REFUSED(with("ij,jk->iz", {2, 3}, {3, 5}), "repeated or unknown");
  EXPECT_REFUSED(with("ij,jk->ii", {2, 3}, {3, 5}), "repeated or unknown");
  EXPECT_REFUSED(with("i1,jk->i", {2, 3}, {3, 5}), "expected letters");
  EXPECT_REFUSED(with("i...j...,k->i", {2, 3, 1, 1, 1, 1}, {3}), "expected letters");
  EXPECT_REFUSED(with("", {2}, {3}), "1 terms");
}

TEST(Einsum, TakesThreeTermsAndScalars) {
  const Tensor a = floats({2}, {1, 2}), m = floats({2, 2}, {1, 2, 3, 4}),
               b = floats({2}, {10, 100});
  EXPECT_EQ(values(run(Einsum{"i,ij,j->"}, {a, m, b})), Floats{1 * 210 + 2 * 430});
  EXPECT_EQ(values(run(Einsum{",i->i"}, {floats({}, {3}), a})), (Floats{3, 6}));
}

TEST(Einsum, ARepeatedLetterWalksTheDiagonal) {
  const Tensor cube = counting({2, 2, 2});
  EXPECT_EQ(values(run(Einsum{"iii->i"}, {cube})), (Floats{0, 7}));
  EXPECT_EQ(values(run(Einsum{"iij->j"}, {cube})), (Floats{6, 8}));
  EXPECT_EQ(values(run(Einsum{"ii"}, {floats({2, 2}, {1, 2, 3, 4})})), Floats{5});  // the trace
}

TEST(Einsum, ASizeOfOneRepeatsAndCaseMatters) {
  EXPECT_EQ(
      values(run(Einsum{"ij,ij->ij"}, {floats({1, 2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})})),
      (Floats{1, 4, 3, 8}));
  EXPECT_EQ(run(Einsum{"aA,Ab->ab"}, {counting({2, 3}), counting({3, 4})}).dims(), (Dims{2, 4}));
}

TEST(Einsum, IntegersWrap) {
  EXPECT_EQ(values<int64_t>(run(Einsum{"i->"}, {ints({INT64_MAX, 1})})),
            std::vector<int64_t>{INT64_MIN});
}

TEST(Einsum, RefusesASumTooLongToCount) {
  const int64_t huge = int64_t{1} << 30;
  EXPECT_REFUSED(infer_of(Einsum{"a,b->"}, {f32({huge}), f32({huge})}), "2^40");
}

}  // namespace
}  // namespace enginery
