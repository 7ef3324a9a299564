#include "engine/tensor/tensor.h"

#include <gtest/gtest.h>

#include <array>
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

TEST(Tensor, ABorrowedOneIsCopiedBeforeItIsWritten) {
  const auto memory = std::make_shared<std::array<float, 2>>(std::array<float, 2>{1, 2});
  Tensor a = Tensor::borrow(DataType::float32, {2}, memory);
  EXPECT_EQ(a.raw(), memory.get());
  a.mutable_data<float>()[0] = 7;  // the only tensor, and yet not the memory's owner
  EXPECT_EQ((*memory)[0], 1);
  EXPECT_EQ(values<float>(a), (std::vector<float>{7, 2}));
  const void* own = a.raw();
  a.mutable_data<float>()[1] = 8;  // its own by now: no second copy
  EXPECT_EQ(a.raw(), own);
}

TEST(Tensor, BorrowedMemoryLivesAsLongAsACopy) {
  auto memory = std::make_shared<std::array<float, 1>>(std::array<float, 1>{5});
  const std::weak_ptr<void> watch = memory;
  Tensor copy = Tensor::borrow(DataType::float32, {1}, std::move(memory)).reshaped({1, 1});
  EXPECT_EQ(copy.data<float>()[0], 5);
  copy = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(TensorDeathTest, RefusesTheWrongTypeVolumeAndDims) {
  const Tensor a = Tensor::of<float>({2}, {1, 2});
  EXPECT_DEATH((void)a.data<int32_t>(), "wrong element type");
  EXPECT_DEATH((void)a.reshaped({3}), "volumes differ");
  EXPECT_DEATH((void)Tensor(DataType::float32, {kDynamic}), "static dims");
  EXPECT_DEATH((void)Tensor::of<float>({3}, {1, 2}), "number of values");
}

TEST(Tensor, ReshapedSharesStorage) {
  Tensor a = Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4});
  Tensor b = a.reshaped({4});
  EXPECT_EQ(b.raw(), a.raw());
  EXPECT_EQ(b.dims(), Dims{4});
}

TEST(Strides, AreRowMajor) {
  EXPECT_EQ(strides_of({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(strides_of({}), Dims{});
  EXPECT_EQ(strides_of({2, 0, 4}), (Dims{0, 4, 1}));
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

uint16_t bfloat16_bits(const Tensor& t) {
  return *static_cast<const uint16_t*>(convert(t, DataType::bfloat16).raw());
}

TEST(Convert, RoundsOnceOnTheWayToBFloat16) {
  // Just above and just below halfway between 1 and the next bfloat16: the float between would be
  // the half itself, which goes to the even neighbour.
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(1 + 0x1p-8 + 0x1p-40)), 0x3f81);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(1 + 3 * 0x1p-8 - 0x1p-40)), 0x3f81);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(-1 - 0x1p-8 - 0x1p-40)), 0xbf81);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar<int64_t>((1 << 24) + (1 << 16) + 1)), 0x4b81);
}

TEST(Convert, DoublesBeyondFloatBecomeInfiniteOrZeroBFloat16) {
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(1e300)), 0x7f80);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(-1e300)), 0xff80);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(1e-300)), 0x0000);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(-1e-300)), 0x8000);
  EXPECT_EQ(bfloat16_bits(Tensor::scalar(std::numeric_limits<double>::quiet_NaN())) & 0x7fc0,
            0x7fc0);
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

TEST(Convert, EveryTypeHoldsZeroOneAndThree) {
  const Tensor x = Tensor::of<float>({3}, {0, 1, 3});
  for (int i = 0; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    const float three = type == DataType::boolean ? 1 : 3;
    for (int j = 0; j < kDataTypeCount; ++j) {
      // From every type to every other and back to floats.
      const auto by = static_cast<DataType>(j);
      const float end = by == DataType::boolean ? 1 : three;
      EXPECT_EQ(values<float>(convert(convert(convert(x, type), by), DataType::float32)),
                (std::vector<float>{0, 1, end}))
          << to_string(type) << " by " << to_string(by);
    }
  }
}

TEST(Convert, MoreElementsThanOneThreadsPieceAreAllConverted) {
  const int64_t n = (int64_t{1} << 20) + 3;
  Tensor x(DataType::int32, {n});
  for (int64_t i = 0; i < n; ++i)
    x.mutable_data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(i % 1000);
  const Tensor y = convert(x, DataType::int16);
  for (int64_t i = 0; i < n; ++i)
    ASSERT_EQ(y.data<int16_t>()[static_cast<size_t>(i)], i % 1000) << i;
}

TEST(ToInt64s, TruncatesFloatsAndKeepsUnsignedBits) {
  EXPECT_EQ(to_int64s(Tensor::of<float>({3}, {-1.9f, 2.5f, NAN})),
            (std::vector<int64_t>{-1, 2, 0}));
  EXPECT_EQ(to_int64s(Tensor::of<uint8_t>({1}, {255})), std::vector<int64_t>{255});
}

TEST(RelativeError, OfAReferenceOfZerosIsTheDifferenceItself) {
  const Tensor zeros = Tensor::of<float>({2}, {0, 0});
  EXPECT_DOUBLE_EQ(relative_error(Tensor::of<float>({2}, {0.5f, -0.25f}), zeros), 0.5);
}

TEST(RelativeError, InfinitiesMayAgreeButNotDiffer) {
  const Tensor r = Tensor::of<float>({2}, {kInfinity, 2});
  EXPECT_DOUBLE_EQ(relative_error(Tensor::of<float>({2}, {kInfinity, 3}), r), 0.5);
  EXPECT_TRUE(std::isinf(relative_error(Tensor::of<float>({2}, {-kInfinity, 2}), r)));
  EXPECT_TRUE(std::isinf(relative_error(Tensor::of<float>({2}, {1, 2}), r)));
}

TEST(RelativeError, ComparesTensorsOfTwoTypes) {
  EXPECT_DOUBLE_EQ(relative_error(Tensor::of<int32_t>({2}, {1, 5}), Tensor::of<float>({2}, {1, 4})),
                   0.25);
}

TEST(RelativeError, IsInfiniteForANanOfItsOwnAndZeroForASharedOne) {
  Tensor r = Tensor::of<float>({2}, {1, 2}), bad = Tensor::of<float>({2}, {1, NAN});
  EXPECT_TRUE(std::isinf(relative_error(bad, r)));
  EXPECT_TRUE(std::isinf(relative_error(r, bad)));
  EXPECT_EQ(relative_error(bad, bad), 0);
}

}  // namespace
}  // namespace enginery
