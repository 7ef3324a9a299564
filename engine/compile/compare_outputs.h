// How one output of an engine compares with the reference's, by how its elements come about.
//
// Floats may differ by the accuracy bar. Integers and booleans that no float decides are exact.
// What was decided at a tie may be either; where many decisions meet, what the reference itself
// does when its ties fall otherwise. Where the reference is NaN anything may stand: the made-up
// input was outside of an operator's domain. Free functions without state.
#pragma once

#include <string>

#include "engine/compile/decided_reference.h"

namespace enginery {

struct Comparison {
  // max|y - r| / max|r| over what no tie and no domain explains; infinite for a NaN or an infinity
  // that the reference does not have.
  double error = 0;
  std::string wrong;  // "12 of 100 elements differ, ..."; "" where the output is right
  std::string note;   // what could not be compared; "" where all was
};

struct ComparisonBars {
  double relative = 0;         // to the output's largest element
  bool holds_float16 = false;  // some layer computes or stores float16
};

// `expected` has as many elements as `actual`.
Comparison compare_output(const Tensor& actual, const DecidedValue& expected,
                          const ComparisonBars& bars);

// A number as messages say it: "0.0123", "1.2e+05".
std::string three_digits(double v);

}  // namespace enginery
