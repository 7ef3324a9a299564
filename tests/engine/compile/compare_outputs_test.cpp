// What counts as right for one output, by how its elements come about.
#include "engine/compile/compare_outputs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace enginery {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> values) {
  return Tensor::of<float>({std::ssize(values)}, std::span<const float>(values));
}
Tensor ints(std::vector<int64_t> values) {
  return Tensor::of<int64_t>({std::ssize(values)}, std::span<const int64_t>(values));
}

DecidedValue plain(Tensor expected) {
  DecidedValue out;
  out.worlds = {std::move(expected)};
  return out;
}
DecidedValue worlds(Decided decided, Tensor exact, Tensor up, Tensor down, Tensor a, Tensor b) {
  DecidedValue out;
  out.decided = decided;
  out.worlds = {std::move(exact), std::move(up), std::move(down), std::move(a), std::move(b)};
  return out;
}

bool is_right(const Tensor& actual, const DecidedValue& expected, double bar = 1e-3,
              bool float16 = false) {
  const Comparison c = compare_output(actual, expected, {bar, float16});
  EXPECT_EQ(c.wrong.empty(), c.error <= bar) << c.wrong << ", error " << c.error;
  return c.wrong.empty();
}

TEST(CompareOutputs, HoldsFloatsToTheBarOfTheLargest) {
  const DecidedValue expected = plain(floats({1, -100, 0}));
  EXPECT_TRUE(is_right(floats({1.09f, -100, 0.09f}), expected));
  EXPECT_FALSE(is_right(floats({1.11f, -100, 0}), expected));
  EXPECT_FALSE(is_right(floats({kNan, -100, 0}), expected));
  EXPECT_FALSE(is_right(floats({kInfinite, -100, 0}), expected));
}

TEST(CompareOutputs, HoldsIntegersThatNoFloatDecidesToEquality) {
  const DecidedValue expected = plain(ints({1'000'000'000, 7}));
  EXPECT_TRUE(is_right(ints({1'000'000'000, 7}), expected));
  EXPECT_FALSE(is_right(ints({1'000'000'001, 7}), expected));
}

TEST(CompareOutputs, TakesAnythingWhereTheReferenceIsNan) {
  const Comparison c = compare_output(floats({5, 1}), plain(floats({kNan, 1})), {1e-3, false});
  EXPECT_EQ(c.wrong, "");
  EXPECT_EQ(c.note, "1 of 2 elements are NaN in the reference and were not compared");
  EXPECT_FALSE(is_right(floats({5, 2}), plain(floats({kNan, 1}))));
}

TEST(CompareOutputs, KeepsInfinitiesOfTheReference) {
  EXPECT_TRUE(is_right(floats({kInfinite, 1}), plain(floats({kInfinite, 1}))));
  EXPECT_FALSE(is_right(floats({3e38f, 1}), plain(floats({kInfinite, 1}))));
  EXPECT_FALSE(is_right(floats({-kInfinite, 1}), plain(floats({kInfinite, 1}))));
}

// 1 of 8 is below what can be told apart, 3 of 8 too; 4 and 6 are not.
TEST(CompareOutputs, TakesAStepAtATieAndNowhereElse) {
  const Tensor exact = floats({4, 4, 4, 4, 6, 6, 6, 6}), up = floats({5, 4, 4, 5, 6, 6, 6, 6}),
               down = floats({4, 4, 4, 4, 6, 6, 5, 6});
  const DecidedValue expected = worlds(Decided::once, exact, up, down, exact, exact);
  EXPECT_TRUE(is_right(floats({5, 4, 4, 4, 6, 6, 5, 6}), expected));
  EXPECT_FALSE(is_right(floats({6, 4, 4, 4, 6, 6, 6, 6}), expected)) << "two steps";
  EXPECT_FALSE(is_right(floats({4, 5, 4, 4, 6, 6, 6, 6}), expected)) << "no tie";
}

TEST(CompareOutputs, TakesFewTiesAlone) {
  const int64_t n = 1000;
  const Tensor exact = ints(std::vector<int64_t>(n, 0)), up = ints(std::vector<int64_t>(n, 1));
  const DecidedValue expected = worlds(Decided::once, exact, up, exact, exact, exact);
  std::vector<int64_t> actual(n, 0);
  std::fill_n(actual.begin(), 50, 1);
  EXPECT_TRUE(is_right(ints(actual), expected));
  actual[50] = 1;
  EXPECT_FALSE(is_right(ints(actual), expected));
}

TEST(CompareOutputs, TakesAnotherPositionOfAnEqualScore) {
  auto choice = std::make_shared<Choice>();
  choice->scores = Tensor::of<double>({2, 3}, {1, 5, 4.999, 9, 2, 3});
  choice->size = 3;
  choice->slack = 0.01;
  DecidedValue expected =
      worlds(Decided::often, ints({1, 0}), ints({1, 0}), ints({1, 0}), ints({1, 0}), ints({1, 0}));
  expected.choice = choice;
  EXPECT_TRUE(is_right(ints({2, 0}), expected));
  EXPECT_FALSE(is_right(ints({0, 0}), expected)) << "a lower score";
  EXPECT_FALSE(is_right(ints({1, 3}), expected)) << "no position";
}

TEST(CompareOutputs, TakesWhatTheReferenceDoesWhenItsTiesFallOtherwise) {
  const size_t n = 1000;
  std::vector<float> exact(n, 1), other(n, 1);
  for (size_t i = 0; i < 100; ++i) other[i] = 1.2f;
  const DecidedValue expected = worlds(Decided::often, floats(exact), floats(exact), floats(exact),
                                       floats(other), floats(exact));
  std::vector<float> actual(n, 1);
  for (size_t i = 500; i < 650; ++i) actual[i] = 1.3f;
  EXPECT_TRUE(is_right(floats(actual), expected));
  actual[0] = 1.5f;
  EXPECT_FALSE(is_right(floats(actual), expected)) << "further than any tie carries";
  actual[0] = 1;
  for (size_t i = 650; i < 750; ++i) actual[i] = 1.3f;
  EXPECT_FALSE(is_right(floats(actual), expected)) << "more elements than ties reach";
}

// Random weights of a deep network may leave numbers that every engine takes for zero.
TEST(CompareOutputs, NumbersThatEnginesTakeForZeroAreNotCompared) {
  const Comparison c =
      compare_output(floats({0, 0}), plain(floats({5.7e-40f, -2e-36f})), {1e-3, false});
  EXPECT_EQ(c.wrong, "");
  EXPECT_EQ(c.note,
            "all elements are below 1.2e-35, where engines take numbers for zero, and were not "
            "compared");
  EXPECT_NE(compare_output(floats({0, 0}), plain(floats({1e-30f, 0})), {1e-3, false}).wrong, "");
  EXPECT_NE(compare_output(floats({1e-30f, 0}), plain(floats({5e-40f, 0})), {1e-3, false}).wrong,
            "");
}

// Half a unit of float16's least number is no error of a float16 engine's, and is one of others.
TEST(CompareOutputs, KnowsWhatFloat16CannotHold) {
  const DecidedValue tiny = plain(floats({3e-8f, -5e-8f}));
  EXPECT_FALSE(is_right(floats({0, 0}), tiny, 1e-2, false));
  const Comparison c = compare_output(floats({0, 0}), tiny, {1e-2, true});
  EXPECT_EQ(c.wrong, "");
  EXPECT_EQ(c.note,
            "all elements are below 6e-8, which float16 cannot hold, and were not compared");
  EXPECT_FALSE(is_right(floats({1, 0}), tiny, 1e-2, true)) << "not small at all";
}

}  // namespace
}  // namespace enginery
