// The reference at some elements of the output only, in double: enough to catch a wrong kernel on a
// large shape without computing all of it. With every value comes the magnitude of what was added
// up for it, from which its error bound follows (bound.h).
//
// Where: expectation.cpp. Thread-safe, without state.
#pragma once

#include <optional>
#include <vector>

#include "engine/tactics/problem.h"

namespace enginery {

struct SampledValue {
  double value = 0;
  double magnitude = 0;  // sum |x||w|, at least |value|; infinite where any result is right
};

// Row-major numbers of `count` random output elements, with the corners and the last ones of every
// dimension always among them; all, where there are no more. Deterministic for a seed.
std::vector<int64_t> sample_elements(const Dims& dims, int64_t count, uint64_t seed);

// Elements of a convolution, deconvolution, matrix product or attention with its epilogue. `inputs`
// run parallel to problem.inputs (null where absent), floats as float32.
std::vector<SampledValue> sampled_products(const Problem& problem,
                                           const std::vector<const Tensor*>& inputs,
                                           const std::vector<int64_t>& elements);

// One element of an attention, by its number in the output (sampled_attention.cpp).
SampledValue attention_at(const Attention& op, const std::vector<const Tensor*>& inputs,
                          int64_t element);

// The epilogue on the anchor's value at an element with these coordinates (sampled_epilogue.cpp).
SampledValue sampled_epilogue(const Problem& problem, const std::vector<const Tensor*>& inputs,
                              const std::vector<int64_t>& at, SampledValue v);

// The activation of a value, and how far it carries the value's error (sampled_epilogue.cpp).
SampledValue activated(const Activation& activation, SampledValue v);

// Index along each dimension of a row-major element number.
std::vector<int64_t> coordinates_of(int64_t element, const Dims& dims);
// Of a tensor broadcast from the right to `at`: the element's number.
size_t broadcast_index(const Dims& dims, const std::vector<int64_t>& at);

}  // namespace enginery
