#include "engine/ops/quantization.h"

#include "tests/engine/ops/ops_support.h"

namespace enginery {
namespace {

TEST(Quantize, RoundsHalfToEvenAndSaturates) {
  Tensor x = floats({6}, {1, 3, -1, 5, 1000, -1000});  // halves of the scale 2
  EXPECT_EQ(values<int8_t>(run(Quantize{}, {x, floats({}, {2})})),
            (std::vector<int8_t>{0, 2, 0, 2, 127, -128}));
  Tensor zero = Tensor::scalar<uint8_t>(128);
  EXPECT_EQ(values<uint8_t>(run(Quantize{.to = DataType::uint8}, {x, floats({}, {2}), zero})),
            (std::vector<uint8_t>{128, 130, 128, 130, 255, 0}));
}

TEST(Quantize, ScalesPerAxisAndPerBlock) {
  Tensor x = floats({2, 2}, {10, 20, 30, 40});
  EXPECT_EQ(values<int8_t>(run(Quantize{.axis = 0}, {x, floats({2}, {10, 5})})),
            (std::vector<int8_t>{1, 2, 6, 8}));
  EXPECT_EQ(values<int8_t>(run(Quantize{.axis = -1}, {x, floats({2}, {10, 5})})),
            (std::vector<int8_t>{1, 4, 3, 8}));
  // Three elements in blocks of two: the second block is short.
  Quantize blocked{.axis = 1, .block_size = 2};
  EXPECT_EQ(values<int8_t>(run(blocked, {floats({1, 3}, {2, 4, 6}), floats({1, 2}, {1, 2})})),
            (std::vector<int8_t>{2, 4, 3}));
}

TEST(Dequantize, InvertsByScaleAndZeroPoint) {
  Tensor x = Tensor::of<uint8_t>({3}, {0, 3, 255}), zero = Tensor::scalar<uint8_t>(3);
  EXPECT_EQ(values(run(Dequantize{}, {x, floats({}, {0.5f}), zero})), (Floats{-1.5f, 0, 126}));
  Tensor wide = Tensor::of<int32_t>({2}, {16777217, -3});
  EXPECT_EQ(values(run(Dequantize{}, {wide, floats({}, {1}), Tensor::scalar<int32_t>(16777210)})),
            (Floats{7, -16777213}));
  EXPECT_EQ(run(Dequantize{}, {x, convert(floats({}, {1}), DataType::float16)}).type(),
            DataType::float16);
}

TEST(Quantize, MakesEightBitFloatsOfQuotients) {
  const Tensor x = floats({4}, {1, 3.1f, -2000, 2}), scale = floats({}, {2});
  const Quantize op{.to = DataType::float8e4m3fn};
  EXPECT_EQ(values(convert(run(op, {x, scale}), DataType::float32)), (Floats{0.5f, 1.5f, -448, 1}));
  const Tensor zero = convert(floats({}, {1}), DataType::float8e4m3fn);
  EXPECT_EQ(values(convert(run(op, {x, scale, zero}), DataType::float32)),
            (Floats{1.5f, 2.5f, -448, 2}));
  const Quantize plain{.to = DataType::float8e5m2, .saturate = false};
  EXPECT_EQ(
      values(convert(run(plain, {floats({2}, {1e6f, 1}), floats({}, {1})}), DataType::float32)),
      (Floats{kInfinity, 1}));
}

TEST(Quantize, MakesFourBitIntegers) {
  const Tensor x = floats({2, 3}, {1, 3, -1, 100, -100, 6}), scale = floats({2}, {2, 1});
  const Tensor zero = convert(floats({2}, {1, 0}), DataType::int4);
  EXPECT_EQ(to_int64s(run(Quantize{.to = DataType::int4, .axis = 0}, {x, scale, zero})),
            (std::vector<int64_t>{1, 3, 1, 7, -8, 6}));
  EXPECT_EQ(to_int64s(run(Quantize{.to = DataType::uint4}, {x, floats({}, {1})})),
            (std::vector<int64_t>{1, 3, 0, 15, 0, 6}));
}

TEST(Dequantize, ReadsEightBitFloatsAndFourBitIntegers) {
  const Tensor x = floats({2, 2}, {-8, 0, 3, 7});
  for (const DataType type : {DataType::float8e4m3fn, DataType::float8e4m3fnuz,
                              DataType::float8e5m2fnuz, DataType::int4}) {
    const Tensor zero = convert(floats({2}, {1, -2}), type);
    const Tensor y = run(Dequantize{}, {convert(x, type), floats({2}, {0.5f, 2}), zero});
    EXPECT_EQ(values(y), (Floats{-4.5f, 4, 1, 18})) << to_string(type);
    EXPECT_EQ(values(run(Dequantize{}, {convert(x, type), floats({}, {2})})),
              (Floats{-16, 0, 6, 14}))
        << to_string(type);
  }
}

TEST(Quantization, SaysWhatItExpected) {
  EXPECT_REFUSED(infer_of(Quantize{.to = DataType::int64}, {f32({2}), f32({})}), "not defined");
  EXPECT_REFUSED(infer_of(Quantize{}, {f32({2, 3}), f32({2})}), "the scale as a vector of 3");
  EXPECT_REFUSED(infer_of(Quantize{.axis = 5}, {f32({2, 3}), f32({3})}), "axis 5");
  EXPECT_REFUSED(infer_of(Quantize{}, {f32({2}), f32({}), f32({})}), "zero point of int8");
  EXPECT_REFUSED(infer_of(Quantize{.block_size = 2}, {f32({1, 3}), f32({1, 3})}),
                 "each 2 elements");
  EXPECT_REFUSED(infer_of(Quantize{.block_size = -1}, {f32({1, 3}), f32({1, 3})}), "block_size");
  EXPECT_REFUSED(infer_of(Dequantize{}, {f32({2}), f32({})}), "not defined");
  EXPECT_REFUSED(infer_of(Dequantize{}, {TensorType{DataType::int8, {2}}, f32({}),
                                         TensorType{DataType::uint8, {}}}),
                 "one type");
}

TEST(Quantize, AddsTheZeroPointAfterRounding) {
  // 2.5 rounds to 2, then the zero point 1: not 3.5 rounded to 4.
  EXPECT_EQ(values<int8_t>(run(Quantize{}, {floats({2}, {2.5f, -2.5f}), floats({}, {1}),
                                            Tensor::scalar<int8_t>(1)})),
            (std::vector<int8_t>{3, -1}));
}

TEST(Quantize, InfinitiesSaturateAndNanIsZero) {
  const Tensor x = floats({3}, {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()});
  EXPECT_EQ(values<uint8_t>(run(Quantize{.to = DataType::uint8}, {x, floats({}, {1})})),
            (std::vector<uint8_t>{255, 0, 0}));
}

TEST(Quantize, ReachesBothEndsOfSixteenBits) {
  const Tensor x = floats({2}, {-1e6f, 1e6f});
  EXPECT_EQ(values<int16_t>(run(Quantize{.to = DataType::int16}, {x, floats({}, {1})})),
            (std::vector<int16_t>{-32768, 32767}));
  EXPECT_EQ(values<uint16_t>(run(Quantize{.to = DataType::uint16},
                                 {x, floats({}, {1}), Tensor::scalar<uint16_t>(100)})),
            (std::vector<uint16_t>{0, 65535}));
}

TEST(Dequantize, ScalesPerAxisAndPerBlock) {
  const Tensor x = Tensor::of<int8_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(values(run(Dequantize{.axis = 0}, {x, floats({2}, {10, 100})})),
            (Floats{10, 20, 300, 400}));
  EXPECT_EQ(values(run(Dequantize{.axis = 1},
                       {x, floats({2}, {10, 100}), Tensor::of<int8_t>({2}, {1, 2})})),
            (Floats{0, 0, 20, 200}));
  // One scale for each two rows of a column.
  EXPECT_EQ(values(run(Dequantize{.axis = 0, .block_size = 2}, {x, floats({1, 2}, {1, 10})})),
            (Floats{1, 20, 3, 40}));
}

TEST(Dequantize, SubtractsTheZeroPointWithoutWrapping) {
  EXPECT_EQ(values(run(Dequantize{}, {Tensor::of<int8_t>({1}, {-128}), floats({}, {1}),
                                      Tensor::scalar<int8_t>(127)})),
            Floats{-255});
}

TEST(Quantization, ARunTimeSizeMayTurnOutToBeOneScale) {
  EXPECT_EQ(infer_of(Quantize{}, {f32({-2, 3}), f32({kDynamic})})->at(0),
            (TensorType{DataType::int8, {-2, 3}}));
}

}  // namespace
}  // namespace enginery
