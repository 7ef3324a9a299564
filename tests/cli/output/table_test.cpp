#include "cli/output/table.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(Table, PadsColumnsToTheirWidestCellAndLeavesNoTrailingSpaces) {
  Table table({{"SKU"}, {"MS", Align::right}, {"NOTE"}});
  table.add({"cpu-avx2", "4.32", ""});
  table.add({"p4", "10.1", "untuned"});
  EXPECT_EQ(table.text(),
            "SKU         MS  NOTE\n"
            "cpu-avx2  4.32\n"
            "p4        10.1  untuned\n");
}

TEST(Table, OfNoRowsIsItsTitlesAndARowMayBeShort) {
  Table table({{"A"}, {"B"}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.text(), "A  B\n");
  table.add({"x"});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.text(), "A  B\nx\n");
}

TEST(Table, ARowWithMoreCellsThanColumnsIsABrokenPromise) {
  Table table({{"A"}});
  EXPECT_DEATH(table.add({"x", "y"}), "more cells than columns");
}

TEST(DisplayWidth, CountsCodePointsWithoutColours) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("\xC3\xA9t\xC3\xA9"), 3u);
  EXPECT_EQ(display_width("\x1b[32mok\x1b[0m"), 2u);
}

TEST(Human, BytesSecondsAndMilliseconds) {
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(4'946'700), "4.9 MB");
  EXPECT_EQ(human_bytes(999'960), "1.0 MB");
  EXPECT_EQ(human_seconds(0.84), "0.8 s");
  EXPECT_EQ(human_seconds(200), "3 min 20 s");
  EXPECT_EQ(human_seconds(7500), "2 h 5 min");
  EXPECT_EQ(human_milliseconds(4.321), "4.321");
  EXPECT_EQ(human_milliseconds(0), "");
  EXPECT_EQ(human_milliseconds(0.12345), "0.1235");
  EXPECT_EQ(human_milliseconds(123.45), "123.5");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_seconds(-1), "0.0 s");
  EXPECT_EQ(human_seconds(59.6), "1 min 0 s");
  EXPECT_EQ(human_time(0), "");
}

}  // namespace
}  // namespace enginery
