// The tactics that every test run emulates: at least one of each family, and both sides of each
// branch that a kernel's text takes by a macro (kernel_emulation_test.cpp checks that).
#pragma once

#include <span>
#include <string_view>

namespace enginery {

struct FixedCase {
  std::string_view problem;  // a name of tests/support/problem_list.h, or a problem's text
  int compute_capability;
  std::string_view tactic;  // what the tactic's key begins with, after "kernel:"
};

std::span<const FixedCase> fixed_cases();

}  // namespace enginery
