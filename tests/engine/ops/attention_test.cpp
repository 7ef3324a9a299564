#include "engine/ops/attention.h"

#include <cmath>
#include <random>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

Tensor noise(const Dims& dims, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  Tensor t(DataType::float32, dims);
  for (float& x : t.mutable_data<float>()) x = values(random);
  return t;
}

// One matrix of each, in order.
Attention plain(int64_t queries, int64_t keys, int64_t depth, int64_t width) {
  Attention op;
  op.queries = queries;
  op.keys = keys;
  op.depth = depth;
  op.width = width;
  op.q = op.k = {0, depth, 1};
  op.v = op.y = {0, width, 1};
  op.output = {queries, width};
  return op;
}

// Images, heads, [S, H, D] in memory, packed [B, S, 3, H, D] where `packed`.
Attention of_heads(int64_t images, int64_t heads, int64_t length, int64_t size) {
  Attention op = plain(length, length, size, size);
  op.batch = {images, heads};
  const int64_t row = 3 * heads * size;
  op.q = {0, length * row, size, row, 1};
  op.k = {heads * size, length * row, size, row, 1};
  op.v = {2 * heads * size, length * row, size, row, 1};
  op.y = {0, length * heads * size, size, heads * size, 1};
  op.output = {images, length, heads * size};
  op.scale = 0.5f;
  return op;
}

TEST(Attention, WeighsTheValuesByTheSoftmaxOfTheScores) {
  const Tensor q = floats({1, 2}, {1, 2}), k = floats({2, 2}, {1, 0, 0, 1}),
               v = floats({2, 1}, {10, 20});
  const float weight = 1 / (1 + std::exp(0.5f * (2 - 1)));
  Attention op = plain(1, 2, 2, 1);
  op.scale = 0.5f;
  expect_near(run(op, {q, k, v}), {10 * weight + 20 * (1 - weight)});
}

TEST(Attention, IsTheChainOfOperatorsThatItStandsFor) {
  constexpr int64_t kImages = 2, kHeads = 3, kLength = 5, kSize = 4;
  const Attention op = of_heads(kImages, kHeads, kLength, kSize);
  const Tensor packed = noise({kImages, kLength, 3, kHeads, kSize}, 1);
  const Tensor turned = run(Transpose{{2, 0, 3, 1, 4}}, {packed});
  const auto part = [&](int64_t i) {
    return run(Gather{.axis = 0}, {turned, ints({i}).reshaped({})});
  };
  const Tensor scores =
      run(Binary{BinaryKind::mul},
          {run(MatMul{}, {part(0), run(Transpose{{0, 1, 3, 2}}, {part(1)})}), floats({}, {0.5f})});
  const Tensor mixed = run(MatMul{}, {run(Softmax{}, {scores}), part(2)});
  const Tensor expected = run(Transpose{{0, 2, 1, 3}}, {mixed});
  const Tensor y = run(op, {packed, packed, packed});
  ASSERT_EQ(y.dims(), (Dims{kImages, kLength, kHeads * kSize}));
  for (int64_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y.data<float>()[i], expected.data<float>()[i], 1e-6);
}

TEST(Attention, RepeatsKeysOfSharedHeads) {
  Attention op = plain(2, 3, 2, 2);
  op.batch = {2};
  op.q = {0, 4, 2, 1};
  op.k = op.v = {0, 0, 2, 1};
  op.y = {0, 4, 2, 1};
  op.output = {2, 2, 2};
  const Tensor q = noise({2, 2, 2}, 1), k = noise({3, 2}, 2), v = noise({3, 2}, 3);
  const Floats both = values(run(op, {q, k, v}));
  Floats apart;
  for (const int64_t head : {0, 1}) {
    Attention alone = plain(2, 3, 2, 2);
    alone.q[0] = head * 4;
    for (const float x : values(run(alone, {q, k, v}))) apart.push_back(x);
  }
  EXPECT_EQ(both, apart);
}

// Values are one column of key numbers, so that the result shows which keys took part.
Floats averages(Attention op, const std::vector<Tensor>& masks) {
  const Tensor zeros = floats({2, 1}, {0, 0}), keys = floats({3, 1}, {0, 0, 0});
  std::vector<Tensor> in{zeros, keys, floats({3, 1}, {1, 2, 6})};
  in.insert(in.end(), masks.begin(), masks.end());
  return values(run(op, in));
}

TEST(Attention, HidesKeys) {
  Attention op = plain(2, 3, 1, 1);
  EXPECT_EQ(averages(op, {}), (Floats{3, 3}));
  op.causal = true;  // the last query sees every key
  EXPECT_EQ(averages(op, {}), (Floats{1.5f, 3}));
  op.causal = false;
  op.addend = {0, 0, 1};
  EXPECT_EQ(averages(op, {floats({3}, {0, -kInfinity, 0})}), (Floats{3.5f, 3.5f}));
  op.addend = {};
  op.choice = {0, 3, 1};
  const Tensor choice = booleans({2, 3}, {1, 1, 0, 0, 0, 1});
  EXPECT_EQ(averages(op, {none(), choice}), (Floats{1.5f, 6}));
  op.hides = true;
  EXPECT_EQ(averages(op, {none(), choice}), (Floats{6, 1.5f}));
}

TEST(Attention, OfARowWithoutAnyKeyIsWhatTheChainGives) {
  Attention op = plain(2, 3, 1, 1);
  op.choice = {0, 3, 1};
  const Tensor choice = booleans({2, 3}, {0, 0, 0, 1, 1, 1});
  const Floats without = averages(op, {none(), choice});
  EXPECT_TRUE(std::isnan(without[0])) << "every score is -infinity";
  EXPECT_EQ(without[1], 3);
  op.blank = std::numeric_limits<float>::lowest();
  EXPECT_EQ(averages(op, {none(), choice}), (Floats{3, 3})) << "every score is the same number";
  // The sum of two of the least numbers is -infinity in their type.
  op.addend = {0, 0, 1};
  const float least = op.blank;
  const Floats twice = averages(op, {floats({3}, {least, least, least}), choice});
  EXPECT_TRUE(std::isnan(twice[0]));
  EXPECT_EQ(twice[1], 3);
}

TEST(Attention, OfARowWithoutAnyKeyIsZeroWhereNaNIs) {
  Attention op = plain(2, 3, 1, 1);
  op.zeros = ZeroRows::nan;
  op.choice = {0, 3, 1};
  EXPECT_EQ(averages(op, {none(), booleans({2, 3}, {0, 0, 0, 1, 1, 1})}), (Floats{0, 3}));
}

// A NaN among the scores is none of a mask's.
TEST(Attention, OfARowThatAMaskHidesIsZeroAndNaNStays) {
  Attention op = plain(2, 2, 1, 1);
  op.zeros = ZeroRows::masked;
  op.addend = {0, 2, 1};
  const float nan = std::nanf("");
  const Tensor queries = floats({2, 1}, {1, nan}), keys = floats({2, 1}, {1, 1}),
               values = floats({2, 1}, {5, nan});
  const Tensor y = run(op, {queries, keys, values, floats({2, 2}, {-kInfinity, -kInfinity, 0, 0})});
  EXPECT_EQ(y.data<float>()[0], 0) << "whatever its values";
  EXPECT_TRUE(std::isnan(y.data<float>()[1]));
}

TEST(Attention, NaNOfAHiddenKeysValueShows) {
  Attention op = plain(1, 2, 1, 1);
  op.causal = true;
  op.queries = 1;
  op.addend = {0, 0, 1};
  const Tensor one = floats({1, 1}, {1}), two = floats({2, 1}, {1, 1});
  const float nan = std::nanf("");
  const Tensor y = run(op, {one, two, floats({2, 1}, {1, nan}), floats({2}, {0, -kInfinity})});
  EXPECT_TRUE(std::isnan(y.data<float>()[0]));
}

TEST(Attention, OfDoublesIsComputedInDouble) {
  constexpr double kTiny = 0x1p-40;
  const auto doubles = [](Dims dims, std::initializer_list<double> values) {
    return Tensor::of<double>(std::move(dims), values);
  };
  const Tensor y = run(plain(1, 2, 1, 1), {doubles({1, 1}, {1}), doubles({2, 1}, {2, 2}),
                                           doubles({2, 1}, {1 + 2 * kTiny, 1})});
  EXPECT_EQ(values<double>(y), (std::vector<double>{1 + kTiny}));
}

TEST(Attention, SaysWhatItExpected) {
  const auto refused = [](Attention op, const char* part) {
    EXPECT_REFUSED(infer_of(op, {f32({2, 4}), f32({3, 4}), f32({3, 5})}), part);
  };
  const Attention good = plain(2, 3, 4, 5);
  EXPECT_EQ(dims_of(good, {{2, 4}, {3, 4}, {3, 5}}), (Dims{2, 5}));
  Attention op = good;
  op.q = {1, 4, 1};
  refused(op, "q: expected");
  (op = good).k = {0, 4, -1};
  refused(op, "k: expected");
  (op = good).v = {0, 5};
  refused(op, "v: expected");
  (op = good).v = {0, INT64_MAX, 1};
  refused(op, "v: expected");
  (op = good).y = {0, 4, 1};
  refused(op, "gaps or overlap");
  (op = good).output = {2, 6};
  refused(op, "does not hold");
  (op = good).queries = 0;
  refused(op, "at least 1");
  (op = good).keys = int64_t{1} << 60;
  refused(op, "attention");
  (op = good).addend = {0, 3, 1};
  refused(op, "without an input");
  EXPECT_REFUSED(infer_of(good, {f32({2, 4}), f32({3, 4}), i64({3, 5})}), "type");
  EXPECT_EQ(infer_of(good, {f32({-1, 4}), f32({3, 4}), f32({3, 5})}).error().code,
            ErrorCode::unsupported);
}

}  // namespace
}  // namespace enginery
