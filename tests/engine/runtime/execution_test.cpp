// Programs on this machine's CPU: what an execution gives them beyond what was planned.
#include "engine/runtime/execution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/compile/compile.h"
#include "engine/device/sku_table.h"
#include "engine/graph/text.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

constexpr char kSku[] = "cpu-sse41";  // every x86-64 of the last fifteen years

Result<Target> target_with(int threads) {
  BuildOptions options;
  options.threads = threads;
  return open_target(kSku, options);
}

// One 1x1 convolution, large enough that kernels divide it among threads, with random constants.
Graph pointwise_convolution() {
  Graph graph;
  ValueId x = graph.add_input("x", {DataType::float32, {1, 48, 40, 40}});
  Tensor weights(DataType::float32, {64, 48, 1, 1});
  float value = 0;
  for (float& w : weights.mutable_data<float>()) w = std::sin(value += 1.7f);
  ValueId w = graph.add_constant("w", std::move(weights));
  Convolution conv;
  conv.strides = conv.dilations = {1, 1};
  conv.pads_begin = conv.pads_end = {0, 0};
  auto y = graph.add_node("conv", conv, {x, w});
  EXPECT_TRUE(y.ok());
  EXPECT_TRUE(graph.mark_output((*y)[0], "y").ok());
  return graph;
}

using Run = std::function<Status(Execution&, std::span<const void* const>, std::span<void* const>)>;

std::vector<float> run_program(
    const std::shared_ptr<const Program>& program,
    const Run& with = [](Execution& e, auto inputs, auto outputs) {
      return e.run(inputs, outputs);
    }) {
  auto execution = Execution::make(program);
  EXPECT_TRUE(execution.ok());
  std::vector<float> in(48 * 40 * 40), out(64 * 40 * 40, NAN);
  for (size_t i = 0; i < in.size(); ++i) in[i] = std::cos(static_cast<float>(i));
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  EXPECT_TRUE(with(**execution, inputs, outputs).ok());
  return out;
}

template <typename... With>
std::vector<float> run(const Plan& plan, const Target& target, const With&... with) {
  auto program = Program::make(plan, *target.device, target.sources);
  EXPECT_TRUE(program.ok());
  return run_program(*program, with...);
}

std::vector<float> run_step_by_step(const Plan& plan, const Target& target) {
  std::vector<size_t> steps;
  auto out = run(plan, target, [&](Execution& e, auto inputs, auto outputs) {
    return e.run_step_by_step(inputs, outputs, [&](size_t step, const Arguments&, auto& launch) {
      steps.push_back(step);
      return launch();
    });
  });
  EXPECT_EQ(steps.size(), plan.steps.size()) << "none of these is a view";
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  return out;
}

// What a loaded engine does: its file's bytes are free again once the tactics have their weights.
TEST(Execution, NeedsNoWeightsOfItsPlanOnceItIsPrepared) {
  auto target = target_with(1);
  ASSERT_TRUE(target.ok()) << target.error().message;
  auto network = lower(pointwise_convolution(), target->sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  int shown = 0;
  for (const Tactic& tactic : std::vector<Tactic>(network->nodes[0].tactics)) {
    if (tactic.trust == Trust::reference) continue;  // it shares the weights, which live on
    network->nodes[0].tactics = {tactic};
    auto selection = analytic_choice(*network, target->sources);
    ASSERT_TRUE(selection.ok()) << selection.error().message;
    auto plan = make_plan(*network, *selection);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const std::vector<float> expected = run(*plan, *target);
    std::vector<std::weak_ptr<const void>> files;
    for (PlanConstant& constant : plan->constants) {
      const Tensor& from = constant.tensor;
      auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(from.bytes()));
      std::memcpy(bytes->data(), from.raw(), bytes->size());
      files.push_back(bytes);
      constant.tensor = Tensor::borrow(from.type(), from.dims(),
                                       std::shared_ptr<const void>(bytes, bytes->data()));
    }
    const auto program =
        Program::make(std::move(*plan), *target->device, target->sources, {}, PlanWeights::let_go);
    ASSERT_TRUE(program.ok());
    for (const auto& file : files) EXPECT_TRUE(file.expired()) << tactic_key(tactic);
    EXPECT_EQ(run_program(*program), expected);
    ++shown;
  }
  EXPECT_GT(shown, 0);
}

// A plan holds workspaces for the threads that it was made with; with more of them kernels need
// more.
TEST(Execution, RunsAPlanWithMoreThreadsThanItWasMadeFor) {
  auto one = target_with(1), four = target_with(4);
  ASSERT_TRUE(one.ok()) << one.error().message;
  ASSERT_TRUE(four.ok()) << four.error().message;
  auto network = lower(pointwise_convolution(), one->sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  const std::vector<Tactic> tactics = network->nodes[0].tactics;
  int outgrown = 0;
  for (const Tactic& tactic : tactics) {
    if (tactic.trust == Trust::reference) continue;
    network->nodes[0].tactics = {tactic};
    auto selection = analytic_choice(*network, one->sources);
    ASSERT_TRUE(selection.ok()) << selection.error().message;
    auto plan = make_plan(*network, *selection);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const std::vector<float> expected = run(*plan, *one), y = run(*plan, *four);
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-4) << tactic_key(tactic) << " at " << i;
    auto wide =
        find_source(four->sources, tactic.source)
            ->prepare(network->nodes[0].problem, tactic, network->weights(network->nodes[0]));
    ASSERT_TRUE(wide.ok());
    outgrown += (*wide)->workspace_bytes() > tactic.workspace_bytes;
  }
  EXPECT_GT(outgrown, 0)
      << "no tactic of this problem has a workspace for each thread: the test shows nothing";
}

// As where cuDNN is not installed: the layer and what it lacks are named.
TEST(Execution, NamesTheSourceThatALayerNeedsAndThatIsNotHere) {
  auto target = target_with(1);
  ASSERT_TRUE(target.ok()) << target.error().message;
  auto network = lower(pointwise_convolution(), target->sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  auto selection = analytic_choice(*network, target->sources);
  ASSERT_TRUE(selection.ok());
  selection->tactics[0].source = "cudnn";
  auto plan = make_plan(*network, *selection);
  ASSERT_TRUE(plan.ok());
  auto program = Program::make(*plan, *target->device, target->sources);
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.error().code, ErrorCode::unavailable);
  EXPECT_EQ(program.error().message,
            "layer 'conv' needs the tactic source 'cudnn', which is not available here");
}

// Four chains that meet: whatever order the streams take, the plan's waits keep the results.
TEST(Execution, RunsBranchesOnSideStreams) {
  auto target = target_with(1);
  ASSERT_TRUE(target.ok()) << target.error().message;
  std::string text =
      "graph t { input %x : float32[1x48x40x40]\n %w = constant float32[48x48x1x1] random(1)\n %v "
      "= constant float32[64x48x1x1] random(2)\n";
  const std::string conv =
      "strides=[1,1] dilations=[1,1] pads_begin=[0,0] pads_end=[0,0] groups=1\n";
  for (const std::string i : {"1", "2", "3", "4"}) {
    text += " %a" + i + " = conv(%x, %w) " + conv + " %b" + i + " = act(%a" + i +
            ") kind=tanh\n %c" + i + " = conv(%b" + i + ", %w) " + conv;
  }
  text +=
      " %s = binary(%c1, %c2) kind=add\n %t = binary(%c3, %c4) kind=add\n %u = binary(%s, %t) "
      "kind=add\n %y = conv(%u, %v) " +
      conv + " output %y }";
  auto graph = parse_graph(text);
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  auto network = lower(*graph, target->sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  auto selection = analytic_choice(*network, target->sources);
  ASSERT_TRUE(selection.ok());
  auto one = make_plan(*network, *selection);
  selection->streams = 3;
  auto three = make_plan(*network, *selection);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(stream_count(*three), 3);
  EXPECT_EQ(run(*one, *target), run(*three, *target));
  EXPECT_EQ(run(*three, *target), run_step_by_step(*three, *target));
}

}  // namespace
}  // namespace enginery
