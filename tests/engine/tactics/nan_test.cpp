// A NaN in the input shows in the output wherever the reference has one: a kernel that turned it
// into a number would hide an overflow, and verification would take it for a wrong result.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/comparison.h"
#include "tests/support/problem_list.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

// Beside the conformance list: what it has no row for.
constexpr ProblemRow kMore[] = {
    {"hard_sigmoid", "", "act kind=hard_sigmoid alpha=0.2 beta=0.5 | float32[3x37]"},
    {"hard_swish", "", "act kind=hard_swish | float32[3x37]"},
    {"sign", "", "unary kind=sign | float32[3x37]"},
    {"min", "", "binary kind=min | float32[3x37] float32[3x37]"},
    {"reduce_max_rows", "", "reduce kind=max axes=[1] | float32[3x37]"},
    {"reduce_min_rows", "", "reduce kind=min axes=[1] | float32[3x37]"},
};

void expect_nan_kept(const std::string& sku, const ProblemRow& row) {
  SCOPED_TRACE(sku + ", " + std::string(row.name));
  const auto device = open_device(sku, {});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto stream = (*device)->create_stream().value();
  const TacticSources sources = make_tactic_sources(**device, {{}, {"kernel"}}).value();
  const Problem problem = parse_problem(row.text).value();
  std::mt19937_64 random(1);
  ProblemData data;
  fill_random(problem, random, data);
  plant_nan(problem, data);
  const auto expected = run_problem_reference(problem, data.inputs).value();
  const auto tactics = sources.front()->offer(problem, {Precision::fp32});
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  for (const Tactic& tactic : *tactics) {
    if (tactic.view_of >= 0) continue;
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(**device, *stream);
    ASSERT_TRUE(run.prepare(*sources.front(), problem, tactic, data, OperandPlace::separate).ok());
    ASSERT_TRUE(run.launch().ok());
    expect_close(run.collect().value(), expected, tolerance(tactic));
  }
}

TEST(CpuKernels, PassNanOnAsTheReferenceDoes) {
  std::vector<ProblemRow> rows(std::begin(kMore), std::end(kMore));
  for (const ProblemRow& row : conformance_problems()) {
    const auto required = required_sources(row, DeviceKind::cpu);
    if (std::ranges::find(required, "kernel") != required.end()) rows.push_back(row);
  }
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    for (const ProblemRow& row : rows) expect_nan_kept(sku.name, row);
  }
}

}  // namespace
}  // namespace enginery
