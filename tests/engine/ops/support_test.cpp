// What shape rules and references share: sizes that are known, named or unknown at build time, the
// walk over strided tensors, and the words of the checks.
#include "engine/ops/support.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(MergeSizes, TheKnownSizeWinsAndANameBeatsNone) {
  EXPECT_EQ(merge_sizes(3, 3), 3);
  EXPECT_EQ(merge_sizes(0, 0), 0);
  EXPECT_EQ(merge_sizes(-2, 5), 5);
  EXPECT_EQ(merge_sizes(5, kDynamic), 5);
  EXPECT_EQ(merge_sizes(-2, -2), -2);
  EXPECT_EQ(merge_sizes(kDynamic, -3), -3);
  EXPECT_EQ(merge_sizes(-3, kDynamic), -3);
  EXPECT_EQ(merge_sizes(kDynamic, kDynamic), kDynamic);
}

TEST(MergeSizes, KnownSizesMayNotContradict) {
  EXPECT_EQ(merge_sizes(3, 4), std::nullopt);
  EXPECT_EQ(merge_sizes(1, 4), std::nullopt);  // merging is not broadcasting
  EXPECT_EQ(merge_sizes(0, 4), std::nullopt);
}

TEST(ProductOf, KeepsASymbolThatNothingMultiplies) {
  const auto product = [](std::initializer_list<int64_t> sizes) {
    return product_of(std::vector<int64_t>(sizes));
  };
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({2, 3, 4}), 24);
  EXPECT_EQ(product({1, -2, 1}), -2);
  EXPECT_EQ(product({-2, 3}), kDynamic);
  EXPECT_EQ(product({-2, -2}), kDynamic);
  EXPECT_EQ(product({-2, 7, 0}), 0);  // empty, whatever the others turn out to be
}

TEST(Saturate, TruncatesTowardsZeroAndStopsAtTheLimits) {
  EXPECT_EQ(saturate<int8_t>(-1.9), -1);
  EXPECT_EQ(saturate<int8_t>(127.5), 127);
  EXPECT_EQ(saturate<int8_t>(-1000), -128);
  EXPECT_EQ(saturate<uint8_t>(-0.5), 0);
  EXPECT_EQ(saturate<uint16_t>(kInfinity), 65535);
  EXPECT_EQ(saturate<int64_t>(1e300), INT64_MAX);
  EXPECT_EQ(saturate<int64_t>(-1e300), INT64_MIN);
  EXPECT_EQ(saturate<uint64_t>(1.8446744073709552e19), UINT64_MAX);  // 2^64, which none holds
  EXPECT_EQ(saturate<int32_t>(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(saturate<float>(0.1), 0.1f);
}

TEST(BroadcastStrides, StandStillWhereASizeIsRepeated) {
  EXPECT_EQ(broadcast_strides({2, 3}, {4, 2, 3}), (Dims{0, 3, 1}));
  EXPECT_EQ(broadcast_strides({2, 1, 3}, {2, 5, 3}), (Dims{3, 0, 1}));
  EXPECT_EQ(broadcast_strides({}, {2, 2}), (Dims{0, 0}));
  EXPECT_EQ(broadcast_strides({1}, {1}), Dims{0});
}

TEST(CopyStrided, ReadsBackwardsRepeatsAndReadsScalars) {
  const Tensor x = counting({2, 3});
  Tensor backwards(DataType::float32, {2, 3});
  copy_strided(x, 5, {-3, -1}, backwards);
  EXPECT_EQ(values(backwards), (Floats{5, 4, 3, 2, 1, 0}));
  Tensor repeated(DataType::float32, {2, 2});
  copy_strided(x, 4, {0, 0}, repeated);
  EXPECT_EQ(values(repeated), (Floats{4, 4, 4, 4}));
  Tensor scalar(DataType::float32, {});
  copy_strided(x, 2, {}, scalar);
  EXPECT_EQ(values(scalar), Floats{2});
}

TEST(CopyStrided, MovesElementsOfEveryWidth) {
  for (const DataType type :
       {DataType::int8, DataType::bfloat16, DataType::int32, DataType::float64}) {
    const Tensor x = convert(counting({2, 2}), type);
    Tensor y(type, {2, 2});
    copy_strided(x, 0, {1, 2}, y);
    EXPECT_EQ(values(convert(y, DataType::float32)), (Floats{0, 2, 1, 3})) << to_string(type);
  }
}

TEST(ForEachMapped, VisitsRowMajorAndNothingOfAnEmptyTensor) {
  std::vector<int64_t> seen;
  for_each_mapped({2, 3}, {1, 10}, [&](int64_t i, int64_t j) {
    EXPECT_EQ(i, static_cast<int64_t>(seen.size()));
    seen.push_back(j);
  });
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 10, 20, 1, 11, 21}));
  for_each_mapped({2, 0, 3}, {1, 1, 1}, [](int64_t, int64_t) { ADD_FAILURE() << "no elements"; });
  int visits = 0;
  for_each_mapped({}, {}, [&](int64_t, int64_t) { ++visits; });
  EXPECT_EQ(visits, 1);  // a scalar has one element
}

TEST(ViewAxis, SplitsTheDimsAroundIt) {
  const auto view = [](const Dims& dims, int64_t axis) {
    const AxisView v = view_axis(dims, axis);
    return Dims{v.outer, v.size, v.inner};
  };
  EXPECT_EQ(view({2, 3, 4}, 0), (Dims{1, 2, 12}));
  EXPECT_EQ(view({2, 3, 4}, 1), (Dims{2, 3, 4}));
  EXPECT_EQ(view({2, 3, 4}, 2), (Dims{6, 4, 1}));
  EXPECT_EQ(view({2, 0, 4}, 1), (Dims{2, 0, 4}));
}

TEST(CheckedIndex, CountsFromTheEndAndNamesTheRange) {
  EXPECT_EQ(*checked_index("gather", -3, 3), 0);
  EXPECT_EQ(*checked_index("gather", 2, 3), 2);
  EXPECT_EQ(checked_index("gather", 3, 3).error().message, "gather: index 3 is outside [-3, 3)");
  EXPECT_EQ(checked_index("gather", -4, 3).error().message, "gather: index -4 is outside [-3, 3)");
  EXPECT_FALSE(checked_index("gather", 0, 0));
}

TEST(Requirements, SayWhichInputTheyAreAbout) {
  const std::vector<Operand> in = {{true, f32({2, 3}), nullptr}, {true, i64({2, 2}), nullptr}};
  EXPECT_EQ(require_floating("conv", in).error().message,
            "conv: expected inputs of one floating type, input 1 is int64[2x2]");
  EXPECT_EQ(require_same_type("concat", in, {0, 1}).error().message,
            "concat: expected inputs of one type, got float32[2x3] and int64[2x2]");
  EXPECT_EQ(require_int_vector("slice", in, 1, "starts").error().message,
            "slice: expected starts as an int64 vector, got int64[2x2]");
  EXPECT_EQ(require_vector("conv", in, 1, kDynamic, "the bias").error().message,
            "conv: expected the bias as a vector of as many elements as channels, got int64[2x2]");
  EXPECT_EQ(require_index_type("gather", in[0].type).error().message,
            "gather: expected int32 or int64 indices, got float32[2x3]");
}

TEST(Requirements, LetAbsentInputsAndRunTimeSizesPass) {
  const std::vector<Operand> in = {{true, f32({2}), nullptr},
                                   {false, {DataType::boolean, {9, 9}}, nullptr},
                                   {true, f32({-2}), nullptr}};
  EXPECT_TRUE(require_floating("op", in).ok());
  EXPECT_TRUE(require_same_type("op", in, {0, 1, 2, 7}).ok());
  EXPECT_TRUE(require_int_vector("op", in, 1, "axes").ok());
  EXPECT_TRUE(require_vector("op", in, 1, 4, "scale").ok());
  EXPECT_TRUE(require_vector("op", in, 2, 4, "scale").ok());
}

TEST(RequireRank, WordsItsRange) {
  EXPECT_TRUE(require_rank("op", {2, 3}, 2).ok());
  EXPECT_EQ(require_rank("op", {2}, 2).error().message,
            "op: expected 2 or more dimensions, got 1 (2)");
  EXPECT_EQ(require_rank("op", {2}, 3, 5).error().message,
            "op: expected 3 to 5 dimensions, got 1 (2)");
  EXPECT_EQ(require_rank("op", {}, 2, 2).error().message,
            "op: expected 2 dimensions, got 0 (scalar)");
}

TEST(RequireInputs, CountsThemAndWantsTheFirstOnes) {
  const Operand there{true, f32({1}), nullptr}, absent{false, {}, nullptr};
  const auto message = [](std::vector<Operand> in, size_t least, size_t most) {
    const Status s = require_inputs("gemm", in, least, most);
    return s.ok() ? "accepted" : s.error().message;
  };
  EXPECT_EQ(message({there, there, absent}, 2, 3), "accepted");
  EXPECT_EQ(message({there}, 2, 3), "gemm: expected 2 to 3 inputs, got 1");
  EXPECT_EQ(message({there, there}, 1, 1), "gemm: expected 1 inputs, got 2");
  EXPECT_EQ(message({there, absent}, 2, 3), "gemm: input 1 is required but absent");
}

TEST(RequireInputs, RefusesATensorTooLargeToMultiply) {
  const int64_t huge = int64_t{1} << 39;
  const std::vector<Operand> in = {{true, f32({huge, -2, huge}), nullptr}};
  const Status s = require_inputs("relu", in, 1, 1);
  ASSERT_FALSE(s.ok());
  EXPECT_TRUE(s.error().message.starts_with("relu: input 0: ")) << s.error().message;
}

TEST(RankOfShape, AScalarCountsAsOneAndARunTimeLengthIsUnsupported) {
  const std::vector<Operand> in = {
      {true, i64({}), nullptr}, {true, i64({4}), nullptr}, {true, i64({-2}), nullptr}};
  EXPECT_EQ(*rank_of_shape("reshape", in, 0), 1);
  EXPECT_EQ(*rank_of_shape("reshape", in, 1), 4);
  EXPECT_EQ(rank_of_shape("reshape", in, 2).error().code, ErrorCode::unsupported);
}

TEST(Aligned, PutsOnesInFront) {
  EXPECT_EQ(aligned({2, 3}, 4), (Dims{1, 1, 2, 3}));
  EXPECT_EQ(aligned({2, 3}, 1), (Dims{2, 3}));
  EXPECT_EQ(aligned({}, 2), (Dims{1, 1}));
}

}  // namespace
}  // namespace enginery
