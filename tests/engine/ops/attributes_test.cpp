// The text of attribute values, which is part of keys and engine files: one text for each value,
// and no value for a text that none has.
#include "engine/ops/attributes.h"

#include <cmath>

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(FloatText, IsTheShortestThatReadsBackTheSame) {
  EXPECT_EQ(float_text(0.1f), "0.1");
  EXPECT_EQ(float_text(1.0f), "1");
  EXPECT_EQ(float_text(-0.0f), "-0");
  EXPECT_EQ(float_text(16777216.0f), "16777216");
  EXPECT_EQ(float_text(kInfinity), "inf");
  EXPECT_EQ(float_text(-kInfinity), "-inf");
  EXPECT_EQ(float_text(NAN), "nan");
}

TEST(FloatText, EveryValueReadsBackBitByBit) {
  for (const float value : {0.1f, -0.0f, 1e-45f, 3.4028235e38f, 0.33333334f, 1e-5f, 1.0000001f,
                            kInfinity, -kInfinity}) {
    const auto back = parse_float(float_text(value));
    ASSERT_TRUE(back.ok()) << float_text(value);
    EXPECT_EQ(*back, value) << float_text(value);
    EXPECT_EQ(std::signbit(*back), std::signbit(value)) << float_text(value);
  }
  EXPECT_TRUE(std::isnan(*parse_float("nan")));
}

TEST(ParseFloat, RefusesWhatIsNotWhollyANumber) {
  for (const char* text : {"", " 1", "1 ", "1,5", "0x", "one", "1.0f", "--1"}) {
    EXPECT_FALSE(parse_float(text).ok()) << "'" << text << "'";
  }
}

TEST(IntsText, ReadsBackTheSame) {
  for (const std::vector<int64_t>& list :
       {std::vector<int64_t>{}, {7}, {-1, 0, 3}, {INT64_MIN, INT64_MAX}}) {
    const auto back = parse_ints(ints_text(list));
    ASSERT_TRUE(back.ok()) << ints_text(list);
    EXPECT_EQ(*back, list);
  }
}

TEST(ParseInts, RefusesWhatIntsTextNeverWrites) {
  for (const char* text : {"", "[", "1,2", "[1,2", "1]", "[1,,2]", "[,1]", "[1,]", "[ 1]", "[1.5]",
                           "[9223372036854775808]", "[1][2]"}) {
    EXPECT_FALSE(parse_ints(text).ok()) << "'" << text << "'";
  }
}

TEST(ParseAttribute, LeavesTheValueAloneWhenItRefuses) {
  bool flag = true;
  int64_t count = 5;
  std::vector<int64_t> list{1};
  PadMode mode = PadMode::edge;
  EXPECT_FALSE(parse_attribute("flag", "yes", flag).ok());
  EXPECT_FALSE(parse_attribute("count", "5x", count).ok());
  EXPECT_FALSE(parse_attribute("list", "[2", list).ok());
  EXPECT_FALSE(parse_attribute("mode", "mirror", mode).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(count, 5);
  EXPECT_EQ(list, std::vector<int64_t>{1});
  EXPECT_EQ(mode, PadMode::edge);
}

TEST(ParseAttribute, NamesTheAttributeAndWhatItTakes) {
  bool flag = true;
  PadMode mode = PadMode::edge;
  EXPECT_EQ(parse_attribute("ceil_mode", "1", flag).error().message,
            "attribute 'ceil_mode' = '1': expected true or false");
  EXPECT_EQ(parse_attribute("mode", "mirror", mode).error().message,
            "attribute 'mode' = 'mirror': expected one of the operator's kinds");
}

}  // namespace
}  // namespace enginery
