// The problems that the conformance suite checks.
#pragma once

#include <string_view>
#include <vector>

namespace enginery {

struct ProblemRow {
  std::string_view name;
  std::string_view text;  // problem_text.h
};

// Small problems that cover every operator with a fast path, and its edges.
std::vector<ProblemRow> conformance_problems();

}  // namespace enginery
