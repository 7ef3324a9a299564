#include "engine/base/did_you_mean.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("submit", "submti"), 1u);
  EXPECT_EQ(edit_distance("submit", "sbmit"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(NearestNames, PutsPrefixesAndSmallDistancesFirst) {
  const std::vector<std::string> names{"jobs", "show", "submit", "explain", "completion"};
  EXPECT_EQ(nearest_names("sumbit", names), std::vector<std::string>{"submit"});
  EXPECT_EQ(nearest_names("comp", names).front(), "completion");
  EXPECT_TRUE(nearest_names("zzzzzzz", names).empty());
}

// Two edits make any word of four letters another one.
TEST(NearestNames, AShortNameIsMistypedOnce) {
  EXPECT_TRUE(nearest_names("top", {"up", "show"}).empty());
  EXPECT_TRUE(nearest_names("--safe", {"--name", "--output"}).empty());
  EXPECT_TRUE(nearest_names("--wait", {"--exit"}).empty());
  EXPECT_EQ(nearest_names("h201", {"h200", "p4"}), std::vector<std::string>{"h200"});
  EXPECT_EQ(nearest_names("biuld", {"build"}), std::vector<std::string>{"build"});
}

TEST(DidYouMean, IsAPartOfASentenceOrNothing) {
  EXPECT_EQ(did_you_mean("jbos", {"jobs", "wait"}), "; did you mean jobs?");
  EXPECT_EQ(did_you_mean("qqqqqq", {"jobs", "wait"}), "");
  EXPECT_EQ(did_you_mean("cpu-avx", {"cpu-avx2", "cpu-avx512"}),
            "; did you mean cpu-avx2 or cpu-avx512?");
}

}  // namespace
}  // namespace enginery
