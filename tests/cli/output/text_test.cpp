#include "cli/output/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace enginery {
namespace {

TEST(Counted, HasOneOfAThingAndSeveral) {
  EXPECT_EQ(counted(0, "engine"), "0 engines");
  EXPECT_EQ(counted(1, "engine"), "1 engine");
  EXPECT_EQ(counted(2, "engine"), "2 engines");
  EXPECT_EQ(counted(1, "query", "queries"), "1 query");
  EXPECT_EQ(counted(3, "query", "queries"), "3 queries");
}

TEST(Joined, PutsTheSeparatorBetweenWordsOnly) {
  EXPECT_EQ(joined({}, ", "), "");
  EXPECT_EQ(joined({"a"}, ", "), "a");
  EXPECT_EQ(joined({"a", "", "c"}, ", "), "a, , c");
}

TEST(ReadableNote, SaysWhatBecameOfASymbolicDimension) {
  EXPECT_EQ(readable_note("picture: N = 1"),
            "input picture: the symbolic dimension N = 1 (--shapes picture:... sets it)");
  for (const char* other : {"not compared: why", "x = 1", "a: b = 2"})
    EXPECT_EQ(readable_note(other), other);
}

TEST(LoadRemark, IsOfATenthAndMore) {
  EXPECT_EQ(load_remark(0.587), "measured while other programs used 59 % of the device");
  for (const double quiet : {0.0, 0.09, std::nan("")}) EXPECT_EQ(load_remark(quiet), "");
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
