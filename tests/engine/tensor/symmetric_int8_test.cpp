// Weights and activations in 8 bits: which steps, and which whole numbers.
#include "engine/tensor/symmetric_int8.h"

#include <gtest/gtest.h>

#include <cmath>

namespace enginery {
namespace {

TEST(SymmetricInt8, EachOutputChannelHasItsLargestMagnitudeAs127) {
  const Tensor weights = Tensor::of<float>({2, 3}, {-1.27f, 0.01f, 0.5f, 0, 254, -2});
  const QuantizedWeights rows = quantize_weights(weights, 0);
  EXPECT_EQ(rows.scales.dims(), Dims{2});
  EXPECT_NEAR(rows.scales.data<float>()[0], 0.01, 1e-7);
  EXPECT_EQ(rows.scales.data<float>()[1], 2);
  const auto elements = rows.elements.data<int8_t>();
  EXPECT_EQ(std::vector<int8_t>(elements.begin(), elements.end()),
            (std::vector<int8_t>{-127, 1, 50, 0, 127, -1}));
  const QuantizedWeights columns = quantize_weights(weights, 1);
  EXPECT_EQ(columns.scales.dims(), Dims{3});
  EXPECT_EQ(columns.scales.data<float>()[1], 2);
  EXPECT_EQ(columns.elements.data<int8_t>()[1], 0);
}

TEST(SymmetricInt8, AChannelOfZerosHasAScale) {
  const QuantizedWeights quantized = quantize_weights(Tensor::of<float>({2, 1}, {0.0f, 1.0f}), 0);
  EXPECT_EQ(quantized.scales.data<float>()[0], 1);
  EXPECT_EQ(quantized.elements.data<int8_t>()[0], 0);
}

TEST(SymmetricInt8, WhatIsNeverNegativeHasStepsOfHalfTheSize) {
  const ActivationScale any{0.02f, false}, positive{0.02f, true};
  EXPECT_EQ(any.type(), DataType::int8);
  EXPECT_EQ(any.step(), 0.02f);
  EXPECT_EQ(positive.type(), DataType::uint8);
  EXPECT_FLOAT_EQ(positive.step() * 255, any.step() * 127);
}

}  // namespace
}  // namespace enginery
