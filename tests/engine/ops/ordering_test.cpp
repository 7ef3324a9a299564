#include "engine/ops/ordering.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

std::vector<Tensor> top(const TopK& op, const Tensor& x, int64_t k) {
  auto out = try_run(op, {x, ints({k})});
  if (!out.ok()) ADD_FAILURE() << out.error().message;
  return out.ok() ? *out : std::vector<Tensor>(2);
}

TEST(TopK, SortsTheBestWithTheirIndices) {
  auto best = top({}, floats({2, 4}, {1, 4, 2, 4, -1, 0, -2, -3}), 3);
  EXPECT_EQ(values(best[0]), (Floats{4, 4, 2, 0, -1, -2}));
  EXPECT_EQ(values<int64_t>(best[1]), (std::vector<int64_t>{1, 3, 2, 1, 0, 2}));
  EXPECT_EQ(values(top({.largest = false}, floats({3}, {3, 1, 2}), 2)[0]), (Floats{1, 2}));
  EXPECT_EQ(values(top({.axis = 0}, floats({2, 2}, {1, 9, 5, 3}), 1)[0]), (Floats{5, 9}));
}

TEST(TopK, PutsNanAboveNumbers) {
  auto best = top({}, floats({4}, {1, NAN, 3, NAN}), 3);
  EXPECT_EQ(values<int64_t>(best[1]), (std::vector<int64_t>{1, 3, 2}));
}

TEST(TopK, ShapesAndRefusals) {
  EXPECT_EQ(infer_of(TopK{}, {f32({-2, 10}), i64({1})})->at(1), i64({-2, kDynamic}));
  EXPECT_EQ(top({}, Tensor(DataType::float32, {2, 3}), 0)[0].dims(), (Dims{2, 0}));
  EXPECT_REFUSED(try_run(TopK{}, {counting({3}), ints({4})}), "k from 0 to the 3");
  EXPECT_REFUSED(try_run(TopK{}, {counting({3}), ints({-1})}), "k from 0");
  EXPECT_REFUSED(try_run(TopK{}, {counting({3}), ints({1, 2})}), "one integer");
  EXPECT_REFUSED(try_run(TopK{.axis = 1}, {counting({3}), ints({1})}), "axis 1");
}

TEST(CumSum, RunsBothWays) {
  Tensor x = floats({3}, {1, 2, 3}), axis = ints({0});
  EXPECT_EQ(values(run(CumSum{}, {x, axis})), (Floats{1, 3, 6}));
  EXPECT_EQ(values(run(CumSum{.exclusive = true}, {x, axis})), (Floats{0, 1, 3}));
  EXPECT_EQ(values(run(CumSum{.reverse = true}, {x, axis})), (Floats{6, 5, 3}));
  EXPECT_EQ(values(run(CumSum{.exclusive = true, .reverse = true}, {x, axis})), (Floats{5, 3, 0}));
  EXPECT_EQ(values(run(CumSum{}, {counting({2, 2}), ints({-2})})), (Floats{0, 1, 2, 4}));
  EXPECT_EQ(values<int64_t>(run(CumSum{}, {ints({INT64_MAX, 1}), axis})),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN}));
  EXPECT_REFUSED(try_run(CumSum{}, {x, ints({1})}), "axis 1");
}

TEST(NonZero, ListsPositionsOfAConstant) {
  Tensor at = run(NonZero{}, {floats({2, 2}, {1, 0, 0, -1})});
  EXPECT_EQ(at.dims(), (Dims{2, 2}));
  EXPECT_EQ(values<int64_t>(at), (std::vector<int64_t>{0, 1, 0, 1}));
  EXPECT_EQ(run(NonZero{}, {floats({2}, {0, 0})}).dims(), (Dims{1, 0}));
  EXPECT_EQ(refusal(infer_of(NonZero{}, {f32({2})})).substr(0, 11), "unsupported");
}

TEST(TopK, TheSmallestLeaveNanForLast) {
  const auto best = top({.largest = false}, floats({4}, {NAN, 3, -kInfinity, 3}), 4);
  EXPECT_EQ(values<int64_t>(best[1]), (std::vector<int64_t>{2, 1, 3, 0}));
}

TEST(TopK, TellsIntegersApartThatNoFloatDoes) {
  const auto best = top({}, ints({INT64_MAX - 1, INT64_MAX, INT64_MIN}), 2);
  EXPECT_EQ(values<int64_t>(best[0]), (std::vector<int64_t>{INT64_MAX, INT64_MAX - 1}));
}

TEST(TopK, SortsEachLaneOfAMiddleAxis) {
  const Tensor x = floats({2, 2, 2}, {1, 8, 3, 6, 5, 4, 7, 2});
  const auto best = top({.axis = 1}, x, 2);
  EXPECT_EQ(values(best[0]), (Floats{3, 8, 1, 6, 7, 4, 5, 2}));
  EXPECT_EQ(values<int64_t>(best[1]), (std::vector<int64_t>{1, 0, 0, 1, 1, 0, 0, 1}));
}

TEST(CumSum, RunsAlongAMiddleAxis) {
  const Tensor x = counting({2, 2, 2}), axis = ints({1});
  EXPECT_EQ(values(run(CumSum{}, {x, axis})), (Floats{0, 1, 2, 4, 4, 5, 10, 12}));
  EXPECT_EQ(values(run(CumSum{.exclusive = true, .reverse = true}, {x, axis})),
            (Floats{2, 3, 0, 0, 6, 7, 0, 0}));
}

TEST(CumSum, SumsInDouble) {
  EXPECT_EQ(values(run(CumSum{}, {floats({3}, {1e8f, 1, -1e8f}), ints({0})}))[2], 1);
}

TEST(NonZero, AScalarHasNoCoordinates) {
  // ONNX NonZero-13: the output of a scalar is [0, n].
  EXPECT_EQ(run(NonZero{}, {floats({}, {5})}).dims(), (Dims{0, 1}));
  EXPECT_EQ(run(NonZero{}, {floats({}, {0})}).dims(), (Dims{0, 0}));
}

TEST(NonZero, NanCountsAndMinusZeroDoesNot) {
  EXPECT_EQ(values<int64_t>(run(NonZero{}, {floats({3}, {NAN, -0.0f, 1e-45f})})),
            (std::vector<int64_t>{0, 2}));
}

}  // namespace
}  // namespace enginery
