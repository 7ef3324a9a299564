#include "enginery/types.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

TEST(DataType, EveryNameParsesBackToItself) {
  for (int i = 0; i < kDataTypeCount; ++i) {
    auto type = static_cast<DataType>(i);
    ASSERT_TRUE(parse_data_type(to_string(type)));
    EXPECT_EQ(*parse_data_type(to_string(type)), type);
  }
  EXPECT_EQ(parse_data_type("float").error().code, ErrorCode::invalid_argument);
}

TEST(DataType, KnowsBytesAndKinds) {
  EXPECT_EQ(element_bytes(DataType::bfloat16), 2);
  EXPECT_EQ(element_bytes(DataType::uint64), 8);
  EXPECT_TRUE(is_floating(DataType::float64));
  EXPECT_FALSE(is_floating(DataType::int8));
  EXPECT_TRUE(is_integer(DataType::uint64));
  EXPECT_FALSE(is_integer(DataType::boolean));
  for (const DataType type : {DataType::float8e4m3fn, DataType::int4, DataType::uint4}) {
    EXPECT_EQ(element_bytes(type), 1) << to_string(type);
    EXPECT_TRUE(is_storage_only(type)) << to_string(type);
    EXPECT_FALSE(is_floating(type) || is_integer(type)) << to_string(type);
  }
  EXPECT_FALSE(is_storage_only(DataType::boolean));
}

TEST(ParseDims, ReadsWhatToStringWrites) {
  for (const Dims& d : {Dims{}, Dims{3}, Dims{1, 3, 224, 224}, Dims{kDynamic, 5}, Dims{0, 2}}) {
    auto parsed = parse_dims(to_string(d));
    ASSERT_TRUE(parsed) << to_string(d);
    EXPECT_EQ(*parsed, d);
  }
}

TEST(ParseDims, RefusesWhatIsNoShape) {
  for (const char* text :
       {"x", "1x", "x3", "1xx3", "-1x3", "1,3", "3y", "99999999999999999999", "1x3 "}) {
    EXPECT_FALSE(parse_dims(text)) << text;
  }
}

TEST(CheckedVolume, MultipliesAndRefusesWhatNoTensorHolds) {
  EXPECT_EQ(*checked_volume({}), 1);
  EXPECT_EQ(*checked_volume({2, 3, 4}), 24);
  EXPECT_EQ(*checked_volume({int64_t{1} << 40}), int64_t{1} << 40);
  EXPECT_FALSE(checked_volume({int64_t{1} << 40}, 4));
  EXPECT_FALSE(checked_volume({(int64_t{1} << 40) + 1}));
  EXPECT_FALSE(checked_volume({int64_t{1} << 62, int64_t{1} << 62}));
  EXPECT_FALSE(checked_volume({2, -1}));
}

TEST(CheckedVolume, BoundsTheSizesBesideAZeroToo) {
  EXPECT_EQ(*checked_volume({0, 5}), 0);
  EXPECT_FALSE(checked_volume({int64_t{1} << 62, int64_t{1} << 62, 0}));
}

TEST(TensorTypeText, NamesTypeAndShape) {
  EXPECT_EQ(to_string(TensorType{DataType::int64, {2, kDynamic}}), "int64[2x?]");
  EXPECT_EQ(to_string(TensorType{DataType::float32, {}}), "float32[scalar]");
}

}  // namespace
}  // namespace enginery
