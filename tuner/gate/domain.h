// Which values a problem's inputs may take, so that a probe says something: what an operator maps
// to NaN, or an index outside of its axis, tells right from wrong nowhere.
//
// Where: probe_data.h fills inputs from here. Free functions without state; thread-safe.
#pragma once

#include "engine/tactics/problem.h"

namespace enginery {

// Numbers from `low` to `high`, both included for integers. `apart_from_zero`: at least this far
// from 0, on either side that the interval has.
struct Domain {
  double low = -1, high = 1;
  double apart_from_zero = 0;
  bool specials = false;  // NaN and both infinities belong to it: is_nan and its kind tell them
};

// Of problem.inputs[index], a floating one.
Domain float_domain(const Problem& problem, size_t index);

// Of problem.inputs[index], an integer or boolean one: positions where the operator reads them as
// such, divisors and shifts that it accepts, else small numbers.
Domain integer_domain(const Problem& problem, size_t index);

// The inputs that one output element of the operator adds up; 1 where it adds nothing.
int64_t terms_of(const Problem& problem);

// Whether the operator adds up products of input 0 with weights in input 1.
bool is_product_sum(const Problem& problem);

}  // namespace enginery
