#include "engine/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace enginery {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
std::vector<T> values(const Tensor& t) {
  auto d = t.data<T>();
  return {d.begin(), d.end()};
}

TEST(Tensor, StorageIsAlignedAndEmptyOnesHaveSome) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(Tensor(DataType::int8, {3}).raw()) % 64, 0u);
  Tensor empty(DataType::float32, {0, 4});
  EXPECT_EQ(empty.size(), 0);
  EXPECT_NE(empty.raw(), nullptr);
}

TEST(Tensor, ACopySharesUntilItIsWritten) {
  Tensor a = Tensor::of<float>({2}, {1, 2});
  Tensor b = a;
  EXPECT_EQ(a.raw(), b.raw());
  b.mutable_data<float>()[0] = 7;
  EXPECT_EQ(a.data<float>()[0], 1);
  EXPECT_EQ(b.data<float>()[0], 7);
}

TEST(Tensor, ReshapedSharesStorage) {
  Tensor a = Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4});
  Tensor b = a.reshaped({4});
  EXPECT_EQ(b.raw(), a.raw());
  EXPECT_EQ(b.dims(), Dims{4});
}

TEST(Strides, AreRowMajor) {
  EXPECT_EQ(strides_of({2, 3, 4}), (Dims{12, 4, 1}));
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f), 0x3c00);
  EXPECT_EQ(float_to_half(2049.0f), float_to_half(2048.0f));  // halfway, to the even one
  EXPECT_EQ(float_to_half(2051.0f), float_to_half(2052.0f));
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);  // halfway between the largest half and infinity
  EXPECT_EQ(float_to_half(65519.0f), 0x7bff);
  EXPECT_EQ(float_to_half(5.9604645e-8f), 0x0001);  // the smallest subnormal
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_TRUE(std::isnan(half_to_float(float_to_half(NAN))));
}

TEST(Half, EveryFiniteHalfSurvivesFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7c00) == 0x7c00) continue;
    ASSERT_EQ(float_to_half(half_to_float(static_cast<uint16_t>(bits))), bits);
  }
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(float_to_bfloat16(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bfloat16(1.00390625f), 0x3f80);  // 1 + 2^-8: halfway, to the even one
  EXPECT_EQ(float_to_bfloat16(1.01171875f), 0x3f82);  // 1 + 3 * 2^-8: halfway, to the even one
  EXPECT_EQ(float_to_bfloat16(kInfinity), 0x7f80);
  EXPECT_EQ(float_to_bfloat16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(float_to_bfloat16(NAN))));
}

TEST(Convert, FloatsToIntegersTruncateAndSaturate) {
  Tensor x = Tensor::of<float>({6}, {1.9f, -1.9f, 300, -300, kInfinity, NAN});
  EXPECT_EQ(values<int8_t>(convert(x, DataType::int8)),
            (std::vector<int8_t>{1, -1, 127, -128, 127, 0}));
  EXPECT_EQ(values<uint8_t>(convert(x, DataType::uint8)),
            (std::vector<uint8_t>{1, 0, 255, 0, 255, 0}));
  EXPECT_EQ(values<int64_t>(convert(x, DataType::int64))[4], INT64_MAX);
}

TEST(Convert, IntegersKeepAll64BitsAndWrap) {
  Tensor x = Tensor::of<int64_t>({2}, {INT64_MAX - 1, -1});
  EXPECT_EQ(values<uint64_t>(convert(x, DataType::uint64)),
            (std::vector<uint64_t>{INT64_MAX - 1, UINT64_MAX}));
  EXPECT_EQ(values<uint8_t>(convert(x, DataType::uint8)), (std::vector<uint8_t>{254, 255}));
}

TEST(Convert, RoundsOnceOnTheWayToHalf) {
  // Just above halfway between 1 and the next half; float would drop the excess and then round
  // down.
  Tensor x = Tensor::of<double>({1}, {1 + 0x1p-11 + 0x1p-40});
  EXPECT_EQ(half_to_float(*static_cast<const uint16_t*>(convert(x, DataType::float16).raw())),
            1 + 0x1p-10f);
}

TEST(Convert, BooleanIsNotZero) {
  Tensor x = Tensor::of<float>({4}, {0, -0.0f, 0.25f, NAN});
  EXPECT_EQ(values<float>(convert(convert(x, DataType::boolean), DataType::float32)),
            (std::vector<float>{0, 0, 1, 1}));
}

TEST(Convert, ABooleanOfAnyByteIsOne) {
  Tensor x(DataType::boolean, {2});
  static_cast<uint8_t*>(x.mutable_bytes())[0] = 0;
  static_cast<uint8_t*>(x.mutable_bytes())[1] = 0x80;
  EXPECT_EQ(values<int32_t>(convert(x, DataType::int32)), (std::vector<int32_t>{0, 1}));
}

TEST(Convert, EmptyTensorsStayEmpty) {
  EXPECT_EQ(convert(Tensor(DataType::float16, {0}), DataType::int32).size(), 0);
}

TEST(RelativeError, IsTheLargestDifferenceOverTheLargestReference) {
  Tensor r = Tensor::of<float>({3}, {1, -4, 2});
  EXPECT_DOUBLE_EQ(relative_error(Tensor::of<float>({3}, {1, -4, 3}), r), 0.25);
  EXPECT_EQ(relative_error(r, r), 0);
}

TEST(RelativeError, IsInfiniteForANanOfItsOwnAndZeroForASharedOne) {
  Tensor r = Tensor::of<float>({2}, {1, 2}), bad = Tensor::of<float>({2}, {1, NAN});
  EXPECT_TRUE(std::isinf(relative_error(bad, r)));
  EXPECT_TRUE(std::isinf(relative_error(r, bad)));
  EXPECT_EQ(relative_error(bad, bad), 0);
}

}  // namespace
}  // namespace enginery
