// 8-bit numbers of one scale to those of another, alone or as a sum of two: the region
//
//   dequantize(x) [, dequantize(z), add] [, relu | clip] , quantize
//   dequantize(x), mul by a constant, add a constant [, relu | clip] , quantize
//
// in which every scale is one constant and every zero point is known; the second is a batch
// normalisation between two roundings, whose constants have one number for each channel.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include <optional>

#include "engine/tactics/tactic.h"

namespace enginery {

// The numbers of inputs are the region's.
struct QuantizedOperand {
  DataType type = DataType::int8;
  int input = -1, scale = -1;
  float zero = 0;
};

// What a Dequantize reads and what a Quantize gives, of 8 bits with one scale. Errors: unsupported.
Result<QuantizedOperand> dequantized_operand(const RegionPart& part);
Result<QuantizedOperand> quantized_result(const RegionPart& part);
// Of the region's constants.
float scale_of(const QuantizedOperand& operand, Weights weights);

struct Requantized {
  QuantizedOperand x, result;         // of `result` `input` is none
  std::optional<QuantizedOperand> z;  // of x's size
  std::optional<Activation> bounds;   // relu or clip
  int factors = -1, shifts = -1;      // inputs: of each channel, dimension 1 of x; both or none
};

// The places in graphs where one may stand, the longest first.
std::vector<RegionPattern> requantized_patterns();

// Errors: unsupported.
Result<Requantized> requantized(const Problem& problem);

// The least and the largest number of a result's type.
std::pair<float, float> bounds_of(DataType type);
// The least and the largest number of the result, its zero point included: those of its type, or
// nearer ones by relu or clip. `scale` of the result.
std::pair<float, float> requantized_bounds(const Requantized& region, float scale);

}  // namespace enginery
