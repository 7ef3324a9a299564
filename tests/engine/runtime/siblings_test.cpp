// Merged siblings through planning and running: random networks give what the reference gives, with
// any of their alternatives in force.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/compile/compile.h"
#include "engine/graph/run_graph.h"
#include "engine/passes/fuse_vertical.h"
#include "engine/plan/plan.h"
#include "engine/runtime/execution.h"
#include "tests/support/comparison.h"
#include "tests/support/random_graph.h"
#include "tests/support/sliced_graph.h"

namespace enginery {
namespace {

constexpr uint64_t kInceptions = 40, kSlicedGraphs = 100;

// Modules one behind the other: 1x1 convolutions of one value, some of which a 3x3 one reads, and a
// concat of it all.
class InceptionMaker {
 public:
  explicit InceptionMaker(uint64_t seed) : random_(seed) {}

  Graph make() {
    ValueId x = graph_.add_input("x", {DataType::float32, {draw(1, 2), draw(1, 3) * 8, 6, 6}});
    for (int64_t modules = draw(1, 3); modules > 0; --modules) x = module(x);
    EXPECT_TRUE(graph_.mark_output(add(Activation{ActivationKind::tanh, 0, 0}, {x})).ok());
    return std::move(graph_);
  }

 private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  int64_t channels(ValueId v) const { return graph_.value(v).type.dims[1]; }

  ValueId add(Op op, const std::vector<ValueId>& inputs) {
    return graph_.add_node("n", std::move(op), inputs).value()[0];
  }
  ValueId constant(const Dims& dims, float scale) {
    Tensor out(DataType::float32, dims);
    for (float& w : out.mutable_data<float>()) w = scale * static_cast<float>(draw(-8, 8)) / 8;
    return graph_.add_constant("w", std::move(out));
  }

  // With a bias of its own, one that is added, or none.
  ValueId convolution(ValueId x, int64_t kernel) {
    Convolution op;
    op.strides = op.dilations = {1, 1};
    op.pads_begin = op.pads_end = {kernel / 2, kernel / 2};
    const int64_t size = draw(1, 12) * (draw(0, 1) ? 1 : 4);
    std::vector<ValueId> inputs{
        x, constant({size, channels(x), kernel, kernel}, 1.0f / static_cast<float>(channels(x)))};
    const int64_t bias = draw(0, 2);
    if (bias == 1) inputs.push_back(constant({size}, 1));
    ValueId y = add(op, inputs);
    if (bias == 2) y = add(Binary{BinaryKind::add}, {y, constant({size, 1, 1}, 1)});
    return y;
  }

  ValueId module(ValueId x) {
    const bool activated = draw(0, 3) > 0;
    const auto layer = [&](ValueId of, int64_t kernel) {
      const ValueId y = convolution(of, kernel);
      return activated ? add(Activation{ActivationKind::relu, 0, 0}, {y}) : y;
    };
    std::vector<ValueId> parts;
    for (int64_t branches = draw(2, 4); branches > 0; --branches) {
      const ValueId y = layer(x, 1);
      parts.push_back(draw(0, 1) ? y : layer(y, 3));
    }
    return add(Concat{1}, parts);
  }

  std::mt19937_64 random_;
  Graph graph_;
};

// Alternatives in random order, each that replaces nothing that another one does.
Cover random_cover(const Network& network, std::mt19937_64& random) {
  std::vector<size_t> order(network.alternatives.size());
  for (size_t a = 0; a < order.size(); ++a) order[a] = a;
  std::shuffle(order.begin(), order.end(), random);
  Cover out;
  for (const size_t a : order) {
    out.push_back(a);
    if (!network.cut(out).ok()) out.pop_back();
  }
  std::sort(out.begin(), out.end());
  return out;
}

// One tactic for each of the cut network's nodes.
template <typename Choose>
Result<Plan> plan_of(const Network& network, const TacticSources& sources, const Cover& cover,
                     const Choose& choose) {
  TRY(const Network cut, network.cut(cover));
  TacticSelection selection;
  for (const NetworkNode& node : cut.nodes) selection.tactics.push_back(choose(node));
  CHECK_OK(complete_reformats(cut, sources, selection));
  selection.cover = cover;
  return make_plan(network, selection);
}

Result<std::vector<Tensor>> results_of(const Plan& plan, const Target& target,
                                       const std::map<std::string, Tensor>& given) {
  std::vector<const void*> inputs;
  for (const int t : plan.inputs)
    inputs.push_back(given.at(plan.tensors[static_cast<size_t>(t)].name).raw());
  std::vector<Tensor> out;
  for (const int t : plan.outputs) {
    const TensorType& type = plan.tensors[static_cast<size_t>(t)].type;
    out.emplace_back(type.type, type.dims);
  }
  std::vector<void*> outputs;
  for (Tensor& t : out) outputs.push_back(t.mutable_bytes());
  TRY(const auto program, Program::make(plan, *target.device, target.sources));
  TRY(const auto execution, Execution::make(program));
  CHECK_OK(execution->run(inputs, outputs));
  return out;
}

const Tactic& reference_of(const NetworkNode& node) {
  return *std::ranges::find_if(node.tactics,
                               [](const Tactic& t) { return t.trust == Trust::reference; });
}

size_t merged_in(const Network& network, const Cover& cover) {
  return static_cast<size_t>(
      std::ranges::count_if(cover, [&](size_t a) { return network.alternatives[a].leads; }));
}

// Runs the graph with random alternatives in force, by the reference and by random tactics. How
// many of the alternatives are siblings as one.
size_t run_covered(const Graph& graph, const Target& target, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto network = lower(graph, target.sources, {Precision::fp32});
  if (!network.ok()) {
    ADD_FAILURE() << network.error().message;
    return 0;
  }
  const auto given = test::random_inputs(graph, seed);
  const auto by_name = run_graph(graph, given);
  EXPECT_TRUE(by_name.ok());
  std::vector<Tensor> expected;
  for (const ValueId v : graph.outputs()) expected.push_back(by_name->at(graph.value(v).name));
  const auto compare = [&](const Cover& cover, auto choose, double bar) {
    const auto plan = plan_of(*network, target.sources, cover, choose);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto results = results_of(*plan, target, given);
    ASSERT_TRUE(results.ok()) << results.error().message;
    expect_close(*results, expected, bar);
  };
  const Cover cover = random_cover(*network, random);
  compare({}, reference_of, 1e-6);
  compare(cover, reference_of, 1e-6);
  compare(
      cover, [&](const NetworkNode& node) { return node.tactics[random() % node.tactics.size()]; },
      1e-3);
  return merged_in(*network, cover);
}

Target this_cpu() {
  BuildOptions options;
  options.threads = 2;
  return open_target("cpu-sse41", options).value();
}

TEST(Siblings, AsOneGiveWhatTheyGiveApart) {
  const Target target = this_cpu();
  const uint64_t first = test::test_seed();
  size_t merged = 0;
  for (uint64_t seed = first; seed < first + kInceptions && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed));
    Graph graph = InceptionMaker(seed).make();
    ASSERT_TRUE(fuse_vertical(graph).ok());
    merged += run_covered(graph, target, seed);
  }
  EXPECT_GT(merged, kInceptions / 2);
}

// Beside values that are parts of others.
TEST(Siblings, AsOneMayBeJoinedAndCut) {
  const Target target = this_cpu();
  const uint64_t first = test::test_seed();
  size_t merged = 0;
  for (uint64_t seed = first; seed < first + kSlicedGraphs && !testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE("ENGINERY_TEST_SEED=" + std::to_string(seed));
    merged += run_covered(test::sliced_graph(seed, 40), target, seed);
  }
  EXPECT_GT(merged, 0u);
}

}  // namespace
}  // namespace enginery
