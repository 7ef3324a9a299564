// A product of quantised numbers as sources see it: the region
//
//   dequantize(x), dequantize(w), conv | gemm | matmul [, [dequantize(z),] add] [, act] [,
//   quantize]
//
// in which x and z are int8 or uint8 of one scale, w constant int8 with a scale for each output
// channel or one for all and no zero point, a bias is float, and what is added, float or z, has the
// result's size. Its sums are sums of integers:
//
//   y = act((sum (x - zero of x) w + bias / s) s + addend),  s = scale of x * scale of w;
//   quantize: y / scale of y, rounded, + zero of y
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include <optional>
#include <span>

#include "engine/tactics/region.h"
#include "engine/tactics/tactic.h"

namespace enginery {

// The numbers of inputs are the region's; -1: there is none.
struct QuantizedProduct {
  Problem product;  // alone and in float32, with constant weights and bias
  std::optional<Activation> activation;
  DataType source = DataType::int8, result = DataType::float32;
  int64_t channels = 0;  // of the output
  int source_scale = -1, weights = -1, weight_scale = -1, bias = -1, addend = -1, result_scale = -1;
  int addend_scale = -1;  // where the addend has 8 bits
  DataType addend_type = DataType::float32;
  int64_t source_zero = 0, addend_zero = 0, result_zero = 0;
};

// Whether no zero point is other than 0.
bool is_symmetric(const QuantizedProduct& product);

// The places in graphs where one may stand, the longest first: those without an addend, and those
// with one, in float or dequantised.
std::vector<RegionPattern> quantized_patterns();
std::vector<RegionPattern> quantized_patterns_with_addend(
    RegionPattern::Operands addend = RegionPattern::Operands::in_float);

// Errors: unsupported.
Result<QuantizedProduct> quantized_product(const Problem& problem);
// The same of operators in order, as operators_of() gives them: operand `inputs` + k is the result
// of operator k. Errors: unsupported.
Result<QuantizedProduct> quantized_product(std::span<const RegionPart> parts, int inputs);

// What its constants say, in real units.
struct QuantizedScales {
  std::vector<float> sums;  // of x times that of w, for each output channel
  float result = 1;         // 1 where the result is float
  float addend = 1;         // 1 where the addend is float, or there is none
};
// Requires the weights of the region; without any the scales are 1.
QuantizedScales quantized_scales(const QuantizedProduct& product, Weights weights);

}  // namespace enginery
