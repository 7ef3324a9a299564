// Two convolutions whose results are added, as sources see them: the regions
//
//   conv, conv, add [, act]                                                      in float
//   dequantize(x), dequantize(w), conv, quantize, dequantize,
//   dequantize(x'), dequantize(w'), conv, add, act, quantize                     of 8 bits
//
// such as a stage of a residual network begins with: its last convolution and the one of the
// shortcut. Of 8 bits the first one's result is rounded before it is added, as the graph says.
//
// Where: between a region and the sources that run it as one kernel. Values; pure functions.
#pragma once

#include <array>

#include "engine/tactics/shapes/conv_shape.h"
#include "engine/tactics/shapes/quantized_product.h"

namespace enginery {

// The numbers of inputs are the region's; -1: there is none.
struct JoinedFloats {
  struct Part {
    ConvShape shape;  // its bias: an input of the region
    int source = -1, weights = -1;
  };
  std::array<Part, 2> parts;
  std::optional<Activation> activation;
};
// Errors: unsupported.
Result<JoinedFloats> joined_floats(const Problem& problem);

struct JoinedQuantized {
  QuantizedProduct first, second;
  int second_source = -1;  // the input that the second one multiplies
};
// The second one's addend is the first one's result; its number is none of an input. Errors:
// unsupported.
Result<JoinedQuantized> joined_quantized(const Problem& problem);

// Whether a region is one of the two rather than a single product.
bool joins_products(const Problem& problem);

// The places in graphs where one may stand, those of 8 bits first.
std::vector<RegionPattern> joined_patterns();

}  // namespace enginery
