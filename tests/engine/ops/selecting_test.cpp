#include "engine/ops/selecting.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

using Ints = std::vector<int64_t>;

struct Selected {
  Ints elements;
  Dims dims;
  int64_t count = -1;
};

Selected selected(const Op& op, const std::vector<Tensor>& inputs) {
  const auto out = try_run(op, inputs);
  if (!out.ok()) {
    ADD_FAILURE() << out.error().message;
    return {};
  }
  return {values<int64_t>((*out)[0]), (*out)[0].dims(), values<int64_t>((*out)[1])[0]};
}

TEST(FindNonZero, ListsPositionsAtTheBeginningOfEachRow) {
  const Selected at = selected(FindNonZero{}, {floats({2, 3}, {1, 0, 0, NAN, -0.0f, 2})});
  EXPECT_EQ(at.count, 3);
  EXPECT_EQ(at.dims, (Dims{2, 6}));
  EXPECT_EQ(at.elements, (Ints{0, 1, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0}));
}

TEST(FindNonZero, OfNothingAndOfAScalar) {
  EXPECT_EQ(selected(FindNonZero{}, {floats({2}, {0, 0})}).count, 0);
  EXPECT_EQ(selected(FindNonZero{}, {Tensor(DataType::float32, {0, 3})}).dims, (Dims{2, 0}));
  const Selected scalar = selected(FindNonZero{}, {floats({}, {5})});
  EXPECT_EQ(scalar.count, 1);
  EXPECT_EQ(scalar.dims, (Dims{0, 1}));
}

TEST(FindNonZero, HasRoomForAllElements) {
  const auto types = infer_of(FindNonZero{}, {f32({3, 4})});
  ASSERT_TRUE(types.ok());
  EXPECT_EQ((*types)[0], i64({2, 12}));
  EXPECT_EQ((*types)[1], i64({}));
  EXPECT_EQ(infer_of(FindNonZero{}, {f32({-2, 4})})->at(0), i64({2, kDynamic}));
}

// Boxes 0 and 1 overlap by 0.6, box 2 stands alone.
const Tensor kBoxes = floats({1, 3, 4}, {0, 0, 4, 4, 0, 1, 4, 5, 10, 10, 11, 11});

TEST(NonMaxSuppression, KeepsTheBestOfWhatOverlaps) {
  const Tensor scores = floats({1, 1, 3}, {0.5f, 0.75f, 0.25f});
  const Selected kept =
      selected(NonMaxSuppression{}, {kBoxes, scores, ints({3}), floats({}, {0.5f})});
  EXPECT_EQ(kept.count, 2);
  EXPECT_EQ(kept.dims, (Dims{3, 3}));
  EXPECT_EQ(kept.elements, (Ints{0, 0, 1, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(selected(NonMaxSuppression{}, {kBoxes, scores, ints({3}), floats({}, {0.6001f})}).count,
            3);
}

TEST(NonMaxSuppression, LimitsBoxesScoresAndTheirNumber) {
  const Tensor scores = floats({1, 1, 3}, {0.5f, 0.75f, 0.25f}), apart = floats({}, {1});
  EXPECT_EQ(selected(NonMaxSuppression{}, {kBoxes, scores, ints({1}), apart}).elements,
            (Ints{0, 0, 1}));
  EXPECT_EQ(selected(NonMaxSuppression{}, {kBoxes, scores, ints({0}), apart}).count, 0);
  EXPECT_EQ(selected(NonMaxSuppression{}, {kBoxes, scores}).count, 0);
  // A score that is the least one does not pass.
  const Selected above =
      selected(NonMaxSuppression{}, {kBoxes, scores, ints({9}), apart, floats({}, {0.25f})});
  EXPECT_EQ(above.count, 2);
  const Selected one_box = selected(
      NonMaxSuppression{}, {kBoxes, scores, ints({9}), apart, none(), Tensor::scalar<int64_t>(1)});
  EXPECT_EQ(one_box.count, 1);
  EXPECT_EQ(one_box.dims, (Dims{3, 3}));
}

TEST(NonMaxSuppression, TakesCornersInAnyOrderAndCenters) {
  const Tensor scores = floats({1, 1, 2}, {0.5f, 0.75f});
  const Tensor flipped = floats({1, 2, 4}, {4, 4, 0, 0, 0, 1, 4, 5});
  EXPECT_EQ(selected(NonMaxSuppression{}, {flipped, scores, ints({2}), floats({}, {0.5f})}).count,
            1);
  // x, y, width, height: the same two boxes.
  const Tensor centers = floats({1, 2, 4}, {2, 2, 4, 4, 3, 2, 4, 4});
  const NonMaxSuppression op{.centers = true};
  EXPECT_EQ(selected(op, {centers, scores, ints({2}), floats({}, {0.5f})}).count, 1);
  EXPECT_EQ(selected(op, {centers, scores, ints({2}), floats({}, {0.6001f})}).count, 2);
}

TEST(NonMaxSuppression, EqualScoresInOrderAndNanLast) {
  const Tensor apart = floats({1, 3, 4}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  const Tensor scores = floats({1, 2, 3}, {1, 1, 1, NAN, 1, 2});
  const Selected kept = selected(NonMaxSuppression{}, {apart, scores, ints({3})});
  EXPECT_EQ(kept.elements, (Ints{0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 1, 2, 0, 1, 1, 0, 1, 0}));
}

TEST(NonMaxSuppression, RefusesShapesThatDoNotFit) {
  EXPECT_REFUSED(try_run(NonMaxSuppression{}, {kBoxes, floats({1, 1, 2}, {1, 2})}),
                 "boxes [B, N, 4] and scores [B, C, N]");
  EXPECT_REFUSED(try_run(NonMaxSuppression{}, {kBoxes, floats({1, 1, 3}, {1, 2, 3}), ints({-1})}),
                 "a number of boxes");
}

TEST(Compact, PutsWhatCountsInFront) {
  const Tensor x = counting({2, 3});
  const auto count = [](int64_t n) { return Tensor::scalar(n); };
  EXPECT_EQ(values(run(Compact{{1}}, {x, count(2)})), (std::vector<float>{0, 1, 3, 4, 0, 0}));
  EXPECT_EQ(values(run(Compact{{0, 1}}, {x, count(1), count(1)})),
            (std::vector<float>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(values(run(Compact{{0}}, {x, count(7)})), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values(run(Compact{{1}}, {x, count(-1)})), (std::vector<float>(6, 0)));
  EXPECT_REFUSED(try_run(Compact{{1, 0}}, {x, count(1), count(1)}), "rising axes");
  EXPECT_REFUSED(try_run(Compact{{2}}, {x, count(1)}), "rising axes");
  EXPECT_REFUSED(try_run(Compact{{1}}, {x, ints({1, 2})}), "a count as one int64");
}

}  // namespace
}  // namespace enginery
