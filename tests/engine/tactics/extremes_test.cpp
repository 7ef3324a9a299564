// Numbers at the ends of float32 and near 0, which random data never reaches: every CPU tactic
// gives what the reference gives, not what its approximation ends with.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "engine/device/sku_table.h"
#include "engine/tactics/cpu/reference/reference_source.h"
#include "tests/support/problem_text.h"
#include "tests/support/tactic_harness.h"

namespace enginery {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct ExtremeCase {
  const char* problem;
  std::vector<float> input, expected;
  std::optional<float> weight = std::nullopt;  // the second input
};

// Of every tactic of the source for the problem.
void expect_outputs(const std::string& sku, const std::string& source, const ExtremeCase& c) {
  SCOPED_TRACE(sku + " " + source + ", " + c.problem);
  const auto device = open_device(sku, {});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto stream = (*device)->create_stream().value();
  const TacticSources sources = make_tactic_sources(**device, {{}, {source}}).value();
  const Problem problem = parse_problem(c.problem).value();
  ProblemData data;
  data.tensors = {Tensor::of<float>(problem.inputs[0].type.dims, std::span<const float>(c.input))};
  if (c.weight) data.tensors.push_back(Tensor::of<float>({1}, std::vector<float>{*c.weight}));
  data.inputs = {&data.tensors[0]};
  data.weights = {nullptr};
  if (c.weight) data.inputs.push_back(&data.tensors[1]);
  if (c.weight) data.weights.push_back(&data.tensors[1]);
  const auto tactics = sources.front()->offer(problem, {Precision::fp32});
  ASSERT_TRUE(tactics.ok()) << tactics.error().message;
  for (const Tactic& tactic : *tactics) {
    SCOPED_TRACE(tactic_key(tactic));
    TacticRun run(**device, *stream);
    ASSERT_TRUE(run.prepare(*sources.front(), problem, tactic, data, OperandPlace::separate).ok());
    ASSERT_TRUE(run.launch().ok());
    const auto outputs = run.collect();
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    const auto y = (*outputs)[0].data<float>();
    for (size_t i = 0; i < c.expected.size(); ++i) {
      if (std::isinf(c.expected[i]))
        EXPECT_EQ(y[i], c.expected[i]) << "element " << i;
      else
        EXPECT_NEAR(y[i], c.expected[i], 1e-6f * std::abs(c.expected[i])) << "element " << i;
    }
  }
}

// A masked score has no share at all: 1e-38 would show in a logarithm.
const ExtremeCase kMaskedSoftmax = {
    "softmax axis=1 | float32[1x4]", {0, -kInf, 0, -kInf}, {0.5f, 0, 0.5f, 0}};
const ExtremeCase kMaskedPair = {"softmax axis=1 | float32[1x2]", {1, -kInf}, {1, 0}};
const ExtremeCase kMaskedColumns = {
    "softmax axis=1 | float32[1x2x3]", {0, 0, -kInf, -kInf, 0, 1}, {1, 0.5f, 0, 0, 0.5f, 1}};
const ExtremeCase kSwish = {
    "act kind=swish | float32[4]", {-3e38f, -100, 100, 3e38f}, {0, 0, 100, 3e38f}};

// To all its digits: what a long chain shrinks stays a number like any other.
const ExtremeCase kSmallTanh = {
    "act kind=tanh | float32[1x6]",
    {1e-20f, -1e-4f, 0.01f, -0.6249f, 0.6251f, 30},
    {1e-20f, -9.9999999667e-5f, 9.9996666799e-3f, -0.55453048f, 0.55466896f, 1}};

// The root that is a power gives +infinity and +0, and has no sign to lose.
const ExtremeCase kRootByPower = {"binary kind=pow | float32[1x5] w:float32[1]",
                                  {-kInf, -0.0f, 1e-30f, 2.25f, kInf},
                                  {kInf, 0, 1e-15f, 1.5f, kInf},
                                  0.5f};
const ExtremeCase kCube = {"binary kind=pow | float32[1x5] w:float32[1]",
                           {-kInf, -1e-10f, -2, 3, 1e13f},
                           {-kInf, -1e-30f, -8, 27, kInf},
                           3.0f};
const ExtremeCase kOtherPower = {
    "binary kind=pow | float32[1x4] w:float32[1]", {0, 1, 4, kInf}, {kInf, 1, 0.125f, 0}, -1.5f};

TEST(CpuExtremes, OfPowers) {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    for (const ExtremeCase& c : {kRootByPower, kCube, kOtherPower})
      expect_outputs(sku.name, "kernel", c);
  }
}

TEST(CpuExtremes, OfOurKernels) {
  for (const LocalSku& sku : local_skus()) {
    if (sku.kind != DeviceKind::cpu) continue;
    for (const ExtremeCase& c : {kMaskedSoftmax, kMaskedPair, kMaskedColumns, kSwish, kSmallTanh})
      expect_outputs(sku.name, "kernel", c);
  }
}

}  // namespace
}  // namespace enginery
