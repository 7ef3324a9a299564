// A region's right result and by what its error is measured, composed operator by operator.
//
// Every operator's result has a magnitude, as one operator's has (magnitude.h): what is added up
// for it, without what cancels. In a region the sizes of an operand are that operand's magnitudes
// instead of its values, so the magnitude of the last result bounds how far a rounding error of any
// operator, relative to its own magnitude, is carried: for sums, products and moves by their sums
// over sizes, for activations by their steepness, for all else by how far the operator itself
// answers when its operands are shifted by their magnitudes. Where a Quantize inside of the region
// rounds what is about a tie, either side is right: the magnitude is infinite from there on.
//
// Where: expectation.cpp. Thread-safe, without state.
#pragma once

#include "engine/tactics/region.h"
#include "tuner/gate/sampled_reference.h"

namespace enginery {

struct RegionResult {
  Tensor values;      // as the region types it; float64 where it is floating
  Tensor magnitudes;  // float32, of its dims, where `values` are float64
  // It ends with rounding to whole numbers, of which max pooling may take the largest: `values` are
  // float64 without the rounding, within what the integer type holds.
  bool rounds = false;
  double largest_inner = 0;  // magnitude of all results but the last
};

// The region is computed in float64, where all of its operators take it, so that what is compared
// with it is the tactic's rounding alone. `inputs` as in the problem, null where absent. Errors:
// those of the references.
Result<RegionResult> region_result(const Problem& problem,
                                   const std::vector<const Tensor*>& inputs);

// Whether what a Quantize rounds is told from its operands: 8 bits by one scale.
bool is_plain_quantize(const Problem& problem);

// The scale and the zero point, 0 where there is none, that a Quantize or Dequantize by one scale
// has as operands 1 and 2.
struct OneScale {
  double scale = 1, zero = 0;
};
OneScale one_scale_of(const std::vector<const Tensor*>& operands);

// What a Quantize to that type rounds of x: with its zero point and within the type's bounds.
SampledValue quotient_of(SampledValue x, const OneScale& by, DataType to);

// The quotient v as a Quantize inside of a region rounds it.
SampledValue rounded_inside(SampledValue v);

}  // namespace enginery
