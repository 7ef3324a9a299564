// Problems from text for the tests of readers.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/problem_text.h"

namespace enginery {

// A mistake in the text fails the test.
inline Problem problem_of(const std::string& text) {
  auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << problem.error().message;
  return problem.ok() ? *std::move(problem) : Problem();
}

}  // namespace enginery
