#include "cli/output/text.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(Joined, PutsTheSeparatorBetweenWordsOnly) {
  EXPECT_EQ(joined({}, ", "), "");
  EXPECT_EQ(joined({"a"}, ", "), "a");
  EXPECT_EQ(joined({"a", "", "c"}, ", "), "a, , c");
}

TEST(WithSafeCharacters, ReplacesEveryOtherByte) {
  EXPECT_EQ(with_safe_characters("a/b c:1.npy", "._-"), "a_b_c_1.npy");
  EXPECT_EQ(with_safe_characters("a+b", "._-"), "a_b");
  EXPECT_EQ(with_safe_characters("a+b", "._-+"), "a+b");
  EXPECT_EQ(with_safe_characters("\xC3\xA9", ""), "__");
}

}  // namespace
}  // namespace enginery
