// A NaN in the input shows in the output wherever the reference has one: a kernel that turned it
// into a number would hide an overflow, and verification would take it for a wrong result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

// A problem with a NaN in each input, and what the reference makes of it.
struct Poisoned {
  Problem problem;
  ProblemData data;
  std::vector<Tensor> expected;
  explicit Poisoned(const ProblemRow& row) : problem(parse_problem(row.text).value()) {
    std::mt19937_64 random(1);
    fill_random(problem, random, data);
    plant_nan(problem, data);
    expected = run_problem_reference(problem, data.inputs).value();
  }
};

bool serves(const ProblemRow& row, const std::string& source) {
  const auto required = required_sources(row, DeviceKind::cpu);
  return std::ranges::find(required, source) != required.end();
}

// Elements at which the reference has a NaN and the tactic a number; Winograd's transforms may make
// more of one, but never fewer.
size_t lost(const Tensor& got, const Tensor& expected) {
  if (got.type() != DataType::float32) return 0;
  size_t out = 0;
  for (size_t i = 0; i < expected.data<float>().size(); ++i)
    out += std::isnan(expected.data<float>()[i]) && !std::isnan(got.data<float>()[i]);
  return out;
}

void expect_nan_kept(const std::string& sku, const ProblemRow& row) {
  SCOPED_TRACE(sku + ", " + std::string(row.name));
  const auto device = open_device(sku, {});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto stream = (*device)->create_stream().value();
  const TacticSources sources = make_tactic_sources(**device, {{}, {"kernel"}}).value();
  const auto [problem, data, expected] = Poisoned(row);
  const auto tactics = sources.front()->offer(problem, {Precision::fp32});
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  for (const Tactic& tactic : *tactics) {
    if (tactic.view_of >= 0) continue;
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(**device, *stream);
    ASSERT_TRUE(run.prepare(*sources.front(), problem, tactic, data, OperandPlace::separate).ok());
    ASSERT_TRUE(run.launch().ok());
    const std::vector<Tensor> outputs = run.collect().value();
    if (tactic.algorithm == Algorithm::winograd)
      EXPECT_EQ(lost(outputs[0], expected[0]), 0u);
    else
      expect_close(outputs, expected, tolerance(tactic));
  }
}

TEST(CpuKernels, PassNanOnAsTheReferenceDoes) {
  std::vector<ProblemRow> rows(std::begin(kMore), std::end(kMore));
  for (const ProblemRow& row : conformance_problems())
    if (serves(row, "kernel")) rows.push_back(row);
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    for (const ProblemRow& row : rows) expect_nan_kept(sku.name, row);
  }
}

// Activations with bounds ignore NaN where they are fused into another primitive, and so does max
// pooling of three dimensions (engine/tactics/README.md).
bool may_lose_nan(const Problem& p) {
  constexpr ActivationKind kBounded[] = {ActivationKind::relu, ActivationKind::clip,
                                         ActivationKind::sigmoid, ActivationKind::hard_sigmoid};
  const bool bounded = std::ranges::any_of(p.epilogue, [&](const EpilogueStep& step) {
    return step.kind == EpilogueKind::activation &&
           std::ranges::find(kBounded, step.activation.kind) != std::end(kBounded);
  });
  const auto* pool = std::get_if<Pooling>(&p.op);
  return bounded || (pool && pool->kind == PoolKind::max && pool->kernel.size() > 2);
}

TEST(Onednn, LosesNoNanOutsideOfFusedBounds) {
  // oneDNN's cap belongs to the process: the best SKU, as in its other tests.
  const auto skus = local_skus();
  const auto best =
      std::ranges::find_if(skus, [](const LocalSku& sku) { return sku.kind == DeviceKind::cpu; });
  ASSERT_NE(best, skus.end());
  const auto device = open_device(best->name, {});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto stream = (*device)->create_stream().value();
  const TacticSources sources = make_tactic_sources(**device, {{}, {"onednn"}}).value();
  int tried = 0;
  for (const ProblemRow& row : conformance_problems()) {
    if (!serves(row, "onednn")) continue;
    const auto [problem, data, expected] = Poisoned(row);
    if (may_lose_nan(problem)) continue;
    const auto tactics = sources.front()->offer(problem, {Precision::fp32});
    if (!tactics.ok()) continue;
    for (const Tactic& tactic : *tactics) {
      SCOPED_TRACE(std::string(row.name) + ": " + tactic_key(tactic));
      TacticRun run(**device, *stream);
      ASSERT_TRUE(
          run.prepare(*sources.front(), problem, tactic, data, OperandPlace::separate).ok());
      ASSERT_TRUE(run.launch().ok());
      const auto got = run.collect().value();
      for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(lost(got[i], expected[i]), 0u);
      ++tried;
    }
  }
  EXPECT_GT(tried, 50);
}

}  // namespace
}  // namespace enginery
