// What `compare` finds: each output's errors of one side against the other, and the layer from
// which they come.
//
// Where: below the verb, above compared_side.h. Free functions without state.
#pragma once

#include "cli/local/compared_output.h"
#include "engine/compile/first_divergence.h"

namespace enginery {

struct ComparisonReport {
  std::vector<ComparedOutput> outputs;  // those that both have
  std::vector<std::string> left_out;    // outputs of one side alone
  int64_t rows = 0;                     // of the inputs; 0: neither side ran
  double tolerance = 0;
  std::optional<Divergence> first;  // where the two do not agree, and both have layers
  std::string no_layers;            // why the layer was not looked for; ""

  // No output is beyond the tolerance, and the two found as many entries in each.
  bool within() const;
  const ComparedOutput& worst() const;
};

struct NamedPair {
  std::string a, b;
};
// The names of A's and B's outputs that belong together: equal names, file names of them
// (file_names_for) where one side was saved, or each side's only one. Others are left out.
std::vector<NamedPair> paired_outputs(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);

// Runs both sides and compares; `tolerance`: nothing means the looser of the bars of both, which is
// that of fp32 on a CPU where neither has one. Errors: those of both sides; invalid_argument
// (no output in common, or of other dims that no run-time count explains).
Result<ComparisonReport> compare_sides(ComparedSide& a, ComparedSide& b, const ComparedData& data,
                                       std::optional<double> tolerance);

}  // namespace enginery
