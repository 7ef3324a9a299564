// A small network of quantised numbers with all of its products as regions in force, against the
// reference run of the graph that was imported. ENGINERY_TEST_SKU as in the suite beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/device/sku_table.h"
#include "engine/graph/run_graph.h"
#include "engine/graph/text.h"
#include "engine/passes/pass.h"
#include "engine/runtime/execution.h"
#include "tests/support/comparison.h"
#include "tuner/analytic_choice.h"
#include "tuner/cover.h"

namespace enginery {
namespace {

// A fire module: one quantised value for two convolutions, whose joined results are quantised.
constexpr const char* kFire = R"(graph t {
  input %x : float32[1x16x9x9]
  %s = constant float32[] {0.02}
  %t = constant float32[] {0.05}
  %v = constant float32[8] {0.010, 0.012, 0.008, 0.011, 0.009, 0.010, 0.013, 0.007}
  %w1 = constant float32[8x16x1x1] random(1)
  %w3 = constant float32[8x16x3x3] random(2)
  %b = constant float32[8] random(3)
  %qw1 = quantize(%w1, %v) axis=0
  %qw3 = quantize(%w3, %v) axis=0
  %fw1 = dequantize(%qw1, %v) axis=0
  %fw3 = dequantize(%qw3, %v) axis=0
  %qx = quantize(%x, %s)
  %fx = dequantize(%qx, %s)
  %e1 = conv(%fx, %fw1, %b) strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0]
  %r1 = act(%e1) kind=relu
  %e3 = conv(%fx, %fw3, %b) strides=[1,1] dilations=[1,1] pads_begin=[1,1] pads_end=[1,1]
  %r3 = act(%e3) kind=relu
  %c = concat(%r1, %r3) axis=1
  %qc = quantize(%c, %t) to=uint8
  %y = dequantize(%qc, %t)
  output %y
})";

struct Machine {
  std::unique_ptr<Device> device;
  TacticSources sources;
};

// The SKU that is asked for, "gpu" the first card's; no device where there is none.
Machine open_machine() {
  Machine out;
  const auto skus = local_skus();
  std::string sku = test_variable("ENGINERY_TEST_SKU", skus.empty() ? "" : skus[0].name);
  for (const LocalSku& s : skus) {
    if (sku == "gpu" && s.kind == DeviceKind::cuda) sku = s.name;
  }
  auto device = open_device(sku, {});
  if (!device.ok()) return out;
  out.device = std::move(*device);
  out.sources = make_tactic_sources(*out.device).value();
  return out;
}

// All regions, whatever they cost.
TacticSelection with_regions(const Network& network, const TacticSources& sources) {
  const auto cost = [](const NetworkNode& node) { return is_region(node.problem) ? 0.0 : 1.0; };
  const Cover cover = choose_cover(network, cost);
  TacticSelection out = analytic_choice(network.cut(cover).value(), sources).value();
  out.cover = cover;
  return out;
}

Tensor run_plan(Plan plan, const Machine& machine, const Tensor& x) {
  const auto program = Program::make(std::move(plan), *machine.device, machine.sources);
  EXPECT_TRUE(program.ok()) << program.error().message;
  const auto execution = Execution::make(*program);
  EXPECT_TRUE(execution.ok());
  Tensor y(DataType::float32, {1, 16, 9, 9});
  const void* inputs[] = {x.raw()};
  void* outputs[] = {y.mutable_bytes()};
  const Status ran = (*execution)->run(inputs, outputs);
  EXPECT_TRUE(ran.ok()) << ran.error().message;
  return y;
}

TEST(QuantizedNetwork, RunsAsRegionsOfIntegers) {
  const Machine machine = open_machine();
  if (!machine.device) GTEST_SKIP() << "this machine lacks the SKU";
  const Graph imported = parse_graph(kFire).value();
  Graph graph = imported;
  ASSERT_TRUE(run_passes(graph, {}).ok());
  const auto network = lower(graph, machine.sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  const DeviceInfo& info = machine.device->info();
  const bool exact =
      info.kind == DeviceKind::cuda || find_sku(info.sku)->isa >= CpuIsa::avx512_vnni;
  const TacticSelection selection = with_regions(*network, machine.sources);
  EXPECT_EQ(selection.cover.size(), exact ? 2u : 0u) << "below VNNI products stay in float";
  const auto plan = make_plan(*network, selection);
  ASSERT_TRUE(plan.ok()) << plan.error().message;

  Tensor x(DataType::float32, {1, 16, 9, 9});
  float v = 0;
  for (float& e : x.mutable_data<float>()) e = 2 * std::sin(v += 1.3f);
  const Tensor y = run_plan(*plan, machine, x);
  const auto right = run_graph(imported, {{"x", x}});
  ASSERT_TRUE(right.ok()) << right.error().message;
  const Tensor& r = right->at("y");
  // A tie may fall to either side: one step of the result.
  constexpr float kStep = 0.05f;
  int64_t apart = 0;
  for (size_t i = 0; i < r.data<float>().size(); ++i) {
    const float d = std::abs(y.data<float>()[i] - r.data<float>()[i]);
    ASSERT_LE(d, 1.001f * kStep) << "element " << i;
    apart += d > 0 ? 1 : 0;
  }
  EXPECT_LE(apart, r.size() / 100);
}

}  // namespace
}  // namespace enginery
