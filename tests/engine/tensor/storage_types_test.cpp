#include "engine/tensor/storage_types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace enginery {
namespace {

constexpr float kBeyondAll = std::numeric_limits<float>::infinity();
constexpr DataType kFloat8[] = {DataType::float8e4m3fn, DataType::float8e4m3fnuz,
                                DataType::float8e5m2, DataType::float8e5m2fnuz};

float number(DataType type, int code) {
  return from_float8(static_cast<uint8_t>(code), float8_format(type));
}
float rounded(DataType type, double value, Overflow overflow = Overflow::saturate) {
  const Float8Format& format = float8_format(type);
  return from_float8(to_float8(value, format, overflow), format);
}

TEST(Float8, CodesAreTheNumbersOfTheStandard) {
  struct Known {
    DataType type;
    int code;
    float number;
  };
  // Largest, least normal and least number of each.
  const Known known[] = {
      {DataType::float8e4m3fn, 0x7e, 448},         {DataType::float8e4m3fn, 0x08, 0x1p-6f},
      {DataType::float8e4m3fn, 0x81, -0x1p-9f},    {DataType::float8e4m3fnuz, 0x7f, 240},
      {DataType::float8e4m3fnuz, 0x08, 0x1p-7f},   {DataType::float8e4m3fnuz, 0x81, -0x1p-10f},
      {DataType::float8e5m2, 0x7b, 57344},         {DataType::float8e5m2, 0x04, 0x1p-14f},
      {DataType::float8e5m2, 0x81, -0x1p-16f},     {DataType::float8e5m2, 0xfc, -kBeyondAll},
      {DataType::float8e5m2fnuz, 0x7f, 57344},     {DataType::float8e5m2fnuz, 0x04, 0x1p-15f},
      {DataType::float8e5m2fnuz, 0x81, -0x1p-17f}, {DataType::float8e4m3fn, 0x3c, 1.5f},
      {DataType::float8e4m3fnuz, 0x44, 1.5f},      {DataType::float8e5m2, 0x3e, 1.5f},
      {DataType::float8e5m2fnuz, 0x42, 1.5f},
  };
  for (const Known& k : known) EXPECT_EQ(number(k.type, k.code), k.number) << to_string(k.type);
  EXPECT_TRUE(std::isnan(number(DataType::float8e4m3fn, 0x7f)));
  EXPECT_TRUE(std::isnan(number(DataType::float8e5m2, 0xfd)));
  EXPECT_TRUE(std::isnan(number(DataType::float8e4m3fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(number(DataType::float8e5m2fnuz, 0x80)));
}

TEST(Float8, EveryCodeComesBack) {
  for (const DataType type : kFloat8) {
    for (int code = 0; code < 256; ++code) {
      const float v = number(type, code);
      const uint8_t back = to_float8(v, float8_format(type), Overflow::infinity);
      const bool same = std::isnan(v) ? std::isnan(number(type, back)) : back == code;
      EXPECT_TRUE(same) << to_string(type) << ": " << code << " came back as " << int{back};
    }
  }
}

// Between each two neighbours: below the middle, at it and above it.
TEST(Float8, RoundsToTheNearestAndTiesToEven) {
  for (const DataType type : kFloat8) {
    for (int code = 0; code < float8_format(type).largest; ++code) {
      const double low = number(type, code), high = number(type, code + 1);
      const double middle = (low + high) / 2;
      EXPECT_EQ(rounded(type, middle), code % 2 == 0 ? low : high) << to_string(type) << code;
      EXPECT_EQ(rounded(type, std::nextafter(middle, 0)), low) << to_string(type) << code;
      EXPECT_EQ(rounded(type, std::nextafter(middle, 1e9)), high) << to_string(type) << code;
      EXPECT_EQ(rounded(type, -std::nextafter(middle, 1e9)), -high) << to_string(type) << code;
    }
  }
}

TEST(Float8, OverflowIsWhatWasAskedFor) {
  struct Case {
    DataType type;
    double still, beyond;  // rounds to the largest; rounds beyond it
    float largest;
    bool has_infinity;
  };
  const Case cases[] = {{DataType::float8e4m3fn, 464, 464.001, 448, false},
                        {DataType::float8e4m3fnuz, 247.999, 248, 240, false},
                        {DataType::float8e5m2, 61439.999, 61440, 57344, true},
                        {DataType::float8e5m2fnuz, 61439.999, 61440, 57344, false}};
  for (const Case& c : cases) {
    EXPECT_EQ(rounded(c.type, c.still, Overflow::infinity), c.largest) << to_string(c.type);
    for (const double v : {c.beyond, 1e30, static_cast<double>(kBeyondAll)}) {
      EXPECT_EQ(rounded(c.type, v), c.largest) << to_string(c.type) << " " << v;
      EXPECT_EQ(rounded(c.type, -v), -c.largest) << to_string(c.type) << " " << v;
      const float plain = rounded(c.type, -v, Overflow::infinity);
      EXPECT_TRUE(c.has_infinity ? plain == -kBeyondAll : std::isnan(plain))
          << to_string(c.type) << " " << v << " gives " << plain;
    }
  }
}

TEST(Float8, ZerosKeepTheirSignWhereThereIsOne) {
  for (const DataType type : kFloat8) {
    const bool is_unsigned = type == DataType::float8e4m3fnuz || type == DataType::float8e5m2fnuz;
    for (const double v : {-0.0, -1e-30}) {
      EXPECT_EQ(rounded(type, v), 0) << to_string(type);
      EXPECT_EQ(std::signbit(rounded(type, v)), !is_unsigned) << to_string(type);
    }
    EXPECT_TRUE(std::isnan(rounded(type, NAN)));
    EXPECT_TRUE(std::isnan(rounded(type, -NAN)));
  }
}

TEST(FourBitIntegers, TakeFloatsRoundedAndSaturated) {
  const Tensor x = Tensor::of<float>({8}, {-9, -0.5f, 0.5f, 1.5f, 7.5f, 15.5f, 300, NAN});
  EXPECT_EQ(to_int64s(convert(x, DataType::int4)), (std::vector<int64_t>{-8, 0, 0, 2, 7, 7, 7, 0}));
  EXPECT_EQ(to_int64s(convert(x, DataType::uint4)),
            (std::vector<int64_t>{0, 0, 0, 2, 8, 15, 15, 0}));
}

TEST(FourBitIntegers, TakeTheLowBitsOfIntegers) {
  const Tensor x = Tensor::of<int32_t>({5}, {-9, -1, 7, 8, 200});
  EXPECT_EQ(to_int64s(convert(x, DataType::int4)), (std::vector<int64_t>{7, -1, 7, -8, -8}));
  EXPECT_EQ(to_int64s(convert(x, DataType::uint4)), (std::vector<int64_t>{7, 15, 7, 8, 8}));
  // And between themselves, and to 8 bits.
  const Tensor narrow = convert(Tensor::of<int32_t>({2}, {-1, 5}), DataType::int4);
  EXPECT_EQ(to_int64s(convert(narrow, DataType::uint4)), (std::vector<int64_t>{15, 5}));
  EXPECT_EQ(to_int64s(convert(narrow, DataType::uint8)), (std::vector<int64_t>{255, 5}));
}

// Bytes of a file or of a caller may hold anything.
TEST(FourBitIntegers, HighBitsOfAByteDoNotCount) {
  Tensor any(DataType::int4, {3});
  const uint8_t bytes[] = {0x0f, 0xff, 0x37};
  std::memcpy(any.mutable_bytes(), bytes, 3);
  EXPECT_EQ(to_int64s(any), (std::vector<int64_t>{-1, -1, 7}));
}

TEST(StorageTypes, NoOtherTypeIsOneAndConversionsGoThroughAll) {
  EXPECT_FALSE(is_storage_only(DataType::int8));
  EXPECT_FALSE(is_storage_only(DataType::boolean));
  const Tensor x = Tensor::of<float>({3}, {-1.5f, 3, 1000});
  EXPECT_EQ(convert(convert(x, DataType::float8e4m3fn), DataType::float16).type(),
            DataType::float16);
  const Tensor wide =
      convert(convert(convert(x, DataType::float8e5m2), DataType::float8e4m3fn), DataType::float32);
  EXPECT_EQ(wide.data<float>()[0], -1.5f);
  EXPECT_EQ(wide.data<float>()[2], 448);
  const Tensor unsaturated = convert(x, DataType::float8e4m3fnuz, Overflow::infinity);
  EXPECT_TRUE(std::isnan(convert(unsaturated, DataType::float32).data<float>()[2]));
}

}  // namespace
}  // namespace enginery
