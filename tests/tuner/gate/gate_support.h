// Problems by their text, for tests of the gate.
#pragma once

#include <gtest/gtest.h>

#include "tests/support/problem_text.h"

namespace enginery::test {

inline Problem problem_of(const std::string& text) {
  const auto parsed = parse_problem(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? *parsed : Problem();
}

}  // namespace enginery::test
