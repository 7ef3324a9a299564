// parse_int and the statistics of samples.
#include <gtest/gtest.h>

#include "engine/base/parse_int.h"
#include "engine/base/statistics.h"

namespace enginery {
namespace {

TEST(ParseInt, TakesWholeDecimalNumbersOnly) {
  EXPECT_EQ(*parse_int("0"), 0);
  EXPECT_EQ(*parse_int("-3"), -3);
  EXPECT_EQ(*parse_int("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(*parse_int("-9223372036854775808"), INT64_MIN);
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "1e3", "0x10", "one", "-",
                          "9223372036854775808", "-9223372036854775809"}) {
    const auto number = parse_int(bad);
    ASSERT_FALSE(number) << bad;
    EXPECT_EQ(number.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(number.error().message.find("'" + std::string(bad) + "'"), std::string::npos);
  }
}

TEST(Median, IsTheUpperMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 3);
  EXPECT_EQ(median({5, 5, 1, 5}), 5);
}

}  // namespace
}  // namespace enginery
