// What the tests of engine/tactics/shapes share: problems with their data, and the places that
// strides name.
#pragma once

#include <gtest/gtest.h>

#include "engine/tactics/cpu/reference/reference_source.h"
#include "engine/tactics/shapes/epilogue.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery::test {

inline Problem problem_of(std::string_view text) {
  auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.error().message;
  return problem.ok() ? *problem : Problem();
}

// The problem's anchor alone.
inline Problem without_epilogue(Problem problem) {
  problem.epilogue.clear();
  problem.inputs.resize(static_cast<size_t>(problem.anchor_inputs));
  return problem;
}

// A problem with random inputs, and what the reference makes of them.
struct Example {
  explicit Example(const Problem& p, uint64_t seed = 1) : problem(p) {
    std::mt19937_64 random(seed);
    fill_random(problem, random, data);
  }
  std::span<const float> input(int i) const {
    return data.tensors[static_cast<size_t>(i)].data<float>();
  }
  Tensor expected() const { return run_problem_reference(problem, data.inputs).value()[0]; }

  const Problem problem;
  ProblemData data;
};

// Where the output's place `rest` finds its operand, in elements.
inline int64_t place(const BroadcastStrides& strides, int64_t rest) {
  int64_t at = 0;
  for (size_t d = strides.dims.size(); d-- > 0;) {
    at += rest % strides.dims[d] * strides.strides[d];
    rest /= strides.dims[d];
  }
  return at;
}

inline float element(std::span<const float> values, int64_t i) {
  return values[static_cast<size_t>(i)];
}

}  // namespace enginery::test
