#include "cli/output/table.h"

#include <gtest/gtest.h>

#include <sstream>

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

TEST(Table, CutsItsWidestTextsToFitAndLeavesNumbersWhole) {
  Table table({{"NAME"}, {"MS", Align::right}, {"NOTE"}});
  table.add({"\xC3\xA9squeezenet-with-a-long-name", "12345.678",
             "a note that nobody can read in one line"});
  EXPECT_EQ(table.text(40),
            "NAME                  MS  NOTE\n"
            "\xC3\xA9squeezenet-\xE2\x80\xA6  12345.678  a note that n\xE2\x80\xA6\n");
  for (const int columns : {39, 60, 200}) {
    std::istringstream lines(table.text(columns));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), static_cast<size_t>(columns));
  }
  EXPECT_EQ(table.text(0), table.text(1000)) << "no terminal, or a wide one: as it is";
}

TEST(Table, WhereCuttingDoesNotDoEachRowIsABlock) {
  Table table({{"NAME"}, {"SIZE", Align::right}, {"ENGINE"}, {"TAGS"}});
  table.add({"net", "1.2 MB", "sha256:0123456789ab", ""});
  table.add({"other", "900 B", "sha256:cdef", "two words"});
  EXPECT_EQ(table.text(24),
            "NAME    net\n"
            "SIZE    1.2 MB\n"
            "ENGINE  sha256:0123456789ab\n"
            "\n"
            "NAME    other\n"
            "SIZE    900 B\n"
            "ENGINE  sha256:cdef\n"
            "TAGS    two words\n");
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 0, 8), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 4, 11), "one two\n    three");
  EXPECT_EQ(wrapped("incomprehensible", 0, 4), "incomprehensible");
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
