// Outputs whose size each run tells, as far as both go.
#include "cli/local/output_comparison.h"

#include <gtest/gtest.h>

#include <numeric>

namespace enginery {
namespace {

Tensor counting(Dims dims, float first = 0) {
  Tensor out(DataType::float32, std::move(dims));
  auto elements = out.mutable_data<float>();
  std::iota(elements.begin(), elements.end(), first);
  return out;
}

TEST(OutputComparison, OfOtherCountsIsComparedAsFarAsBothGo) {
  const CountedSizes counted{{100, 2}, {0}};
  const auto output = compare_tensors("boxes", counting({3, 2}), counting({4, 2}), &counted);
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(output->errors.elements, 6);
  EXPECT_EQ(output->errors.differing, 0);
  EXPECT_FALSE(output->counts_agree());
  EXPECT_EQ(output->counts_text(),
            "output 'boxes' has 3 of at most 100 rows in A against 4 in B: the first 3 of both "
            "were compared");
}

// Rows of four and of three: what is compared does not lie in one piece.
TEST(OutputComparison, ComparesTheSameEntriesAlongAnyAxis) {
  const CountedSizes counted{{2, 2, 9}, {2}};
  const Tensor a = Tensor::of<float>({2, 2, 4}, {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9, 0, 0, 7, 9});
  const auto output = compare_tensors("at", a, counting({2, 2, 3}), &counted);
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(output->errors.elements, 12);
  EXPECT_EQ(output->errors.differing, 3);
  EXPECT_EQ(output->counts_text(),
            "output 'at' has 4 of at most 9 entries along axis 2 in A against 3 in B: the first 3 "
            "of both were compared");
}

TEST(OutputComparison, WithNothingInCommonHasNoError) {
  const CountedSizes counted{{5}, {0}};
  const auto output = compare_tensors("y", counting({2}), counting({0}), &counted);
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_EQ(output->errors.relative, 0);
  EXPECT_EQ(output->counts_text(),
            "output 'y' has 2 of at most 5 rows in A against 0 in B: none is in both");
}

TEST(OutputComparison, OfEqualCountsSaysNothingOfThem) {
  const CountedSizes counted{{5}, {0}};
  const auto output = compare_tensors("y", counting({2}), counting({2}, 1), &counted);
  ASSERT_TRUE(output.ok()) << output.error().message;
  EXPECT_TRUE(output->counts_agree());
  EXPECT_EQ(output->counts_text(), "");
  EXPECT_EQ(output->errors.differing, 2);
}

TEST(OutputComparison, OfOtherDimsIsRefusedWhereNoCountExplainsThem) {
  const CountedSizes counted{{5, 2}, {0}};
  for (const CountedSizes* of : {static_cast<const CountedSizes*>(nullptr), &counted}) {
    const auto output = compare_tensors("y", counting({3, 2}), counting({3, 4}), of);
    ASSERT_FALSE(output.ok());
    EXPECT_EQ(output.error().message, "output 'y' is float32[3x2] in A and float32[3x4] in B");
  }
  EXPECT_FALSE(compare_tensors("y", counting({3, 2}), counting({6}), &counted).ok());
}

}  // namespace
}  // namespace enginery
