// ErrorBound: by how much one element of a right result may differ from the reference.
//
// Per element, |y - r| <= growth * m + rounding * |r| + least, where m is the magnitude of what was
// added up, sum |x||w|, carried through the epilogue (expectation.h). The three come from what the
// tactic promises:
//   growth    sums of n terms in float32: 8 sqrt(n) u, u = 2^-24 (2^-53 of what is stored as
//             float64, which is computed in that). Rounding errors of a right kernel
//             behave like a random walk; a longer one than lambda sqrt(n) u has the probability
//             2 exp(-lambda^2 / 2) (N. Higham, T. Mary, "A new approach to probabilistic rounding
//             error analysis", SIAM J. Sci. Comput. 41, 2019, theorem 3.1; lambda = 8: 2.5e-14).
//             Tensor cores cut off where others round: n u more. Winograd's and Fourier's
//             transforms mix a tile's elements: 4 times as much, of the largest magnitude of all.
//             Functions such as exp: 64 u.
//             Of a region all operators' together, with the magnitudes that region_result.h
//             carries through it; a tactic that computes in a narrower type than float32 may round
//             every result between two operators to it: one unit of its last place for each.
//   rounding  one unit in the last place of the type in which the result is stored.
//   least     the smallest difference that this type holds (subnormal numbers).
//
// Where: comparison.cpp asks it for each element. A value; thread-safe.
#pragma once

#include "engine/tactics/tactic.h"

namespace enginery {

// What of a problem's arithmetic decides the bound, whatever the tactic.
struct Arithmetic {
  int64_t terms = 1;       // that one output element adds up
  bool functions = false;  // exp, log, division and their kind, in the operator or its epilogue
  int inner = 0;           // results between the operators of a region
};
Arithmetic arithmetic_of(const Problem& problem);

struct ErrorBound {
  double growth = 0, rounding = 0, least = 0;
  // The magnitude that counts is the largest of all elements, not the element's own.
  bool of_largest = false;

  double at(double value, double magnitude) const;
};

// For an output that the tactic stores as `stored`.
ErrorBound error_bound(const Arithmetic& arithmetic, const Tactic& tactic, DataType stored);

}  // namespace enginery
