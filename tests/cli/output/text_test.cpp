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

TEST(FileNamesFor, AreSafeAndDiffer) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(file_names_for({"scores", "y/a"}), (Names{"scores", "y_a"}));
  EXPECT_EQ(file_names_for({"y/a", "y_a", "y:a"}), (Names{"y_a.2", "y_a", "y_a.3"}))
      << "a safe name stays, wherever it stands";
  EXPECT_EQ(file_names_for({"y/a", "y:a", "y_a.2"}), (Names{"y_a", "y_a.3", "y_a.2"}));
  EXPECT_EQ(file_names_for({}), Names{});
}

}  // namespace
}  // namespace enginery
