// What `compare` finds: each output's errors of one side against the other, the layer from which
// they come, and the errors of the values in between.
//
// Where: below the verb, above compared_side.h. Free functions without state.
#pragma once

#include "cli/local/output_comparison.h"
#include "engine/compile/first_divergence.h"
#include "engine/compile/value_errors.h"

namespace enginery {

struct ComparisonReport {
  std::vector<OutputComparison> outputs;  // those that both have
  std::vector<std::string> left_out;      // outputs of one side alone
  int64_t rows = 0;                       // of the inputs; 0: neither side ran
  double tolerance = 0;
  std::optional<Divergence> first;  // where the two do not agree, and both have layers
  // Of A against B, by A's layers; nothing where nobody looked at layers. Of the batch in which the
  // worst output's largest difference lies.
  std::optional<std::vector<ValueErrors>> tensors;
  std::string no_layers;  // why nobody could; ""

  // No output is beyond the tolerance, and the two found as many entries in each.
  bool within() const;
  const OutputComparison& worst() const;
};

struct NamedPair {
  std::string a, b;
};
// The names of A's and B's outputs that belong together: equal names, file names of them
// (file_names_for) where one side was saved, or each side's only one. Others are left out.
std::vector<NamedPair> paired_outputs(const std::vector<std::string>& a,
                                      const std::vector<std::string>& b);

struct ComparisonOptions {
  // Nothing: the looser of the bars of both, which is that of fp32 on a CPU where neither has one.
  std::optional<double> tolerance;
  bool tensors = false;  // look at layers also where the outputs agree
};
// Runs both sides and compares. Errors: those of both sides; invalid_argument (no output in common,
// or of other dims that no run-time count explains).
Result<ComparisonReport> compare_sides(ComparedSide& a, ComparedSide& b, const ComparedData& data,
                                       const ComparisonOptions& options);

}  // namespace enginery
