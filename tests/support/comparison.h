// How results are compared with the reference in tests, and where tests take seeds and switches
// from. One place, so that no suite is looser than another unseen.
#pragma once

#include <cstdint>
#include <string>

#include "engine/tactics/tactic.h"

namespace enginery {

// What a right result of the tactic may differ by: max|y - r| / max|r| over one output.
double tolerance(const Tactic& tactic);

// Expects equal dims and floats within `bar` of the largest; other types are expected to be equal.
void expect_close(const Tensor& actual, const Tensor& expected, double bar);
void expect_close(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                  double bar);

// The same for the results of a tactic. What is rounded to whole numbers behind sums in another
// order, or out of inputs in float16, may fall to the other side at a tie: by one step, and for
// hardly any element.
void expect_result(const Problem& problem, const Tactic& tactic, const std::vector<Tensor>& actual,
                   const std::vector<Tensor>& expected);

// An environment variable, or `otherwise` where it is unset or empty.
std::string test_variable(const char* name, const std::string& otherwise);

// ENGINERY_TEST_SEED, else a fresh one for this process: a failing test prints it.
uint64_t test_seed();

}  // namespace enginery
