// TensorErrors: how far one tensor is from another one that counts as right, in the metrics in
// which engines are compared and quantisation is judged.
//
// Where: `compare`, and whoever judges an engine's accuracy by its outputs. A value and a free
// function without state.
#pragma once

#include <optional>

#include "engine/tensor/tensor.h"

namespace enginery {

struct TensorErrors {
  double max_abs = 0;   // max|y - r|
  double relative = 0;  // relative_error (tensor.h): what accuracy bars are stated in
  // Signal to quantisation noise, 10 log10(sum r^2 / sum (y - r)^2) in decibels; infinite where
  // nothing differs, minus infinite where the reference is all zeros.
  double sqnr_db = 0;
  // The share of the rows whose largest element is at the same place, of tensors of two dimensions;
  // of equal elements the first one counts.
  std::optional<double> top1_agree;
  int64_t elements = 0, differing = 0;
  int64_t worst_element = 0;  // the row-major number of the one with the largest difference
};

// Of `actual` against `reference`, element by element in float64. A NaN beside a NaN is equal; a
// NaN or an infinity beside another number is infinitely far away. Requires equal dims (else
// aborts); the element types may differ.
TensorErrors errors_of(const Tensor& actual, const Tensor& reference);

}  // namespace enginery
