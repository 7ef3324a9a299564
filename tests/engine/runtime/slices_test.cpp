// Values that are parts of others, through all that happens to them: random graphs of joins and
// cuts are planned with random tactics, written, read back as a hostile file would be, and run.
#include "engine/plan/slices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "engine/compile/compile.h"
#include "engine/format/engine_file.h"
#include "engine/graph/run_graph.h"
#include "engine/plan/plan.h"
#include "engine/plan/streams.h"
#include "engine/runtime/execution.h"
#include "tests/engine/format/small_engine.h"
#include "tests/support/random_graph.h"
#include "tests/support/sliced_graph.h"

namespace enginery {
namespace {

constexpr char kEveryCpu[] = "cpu-sse41";
constexpr uint64_t kGraphs = 150;

// Slices where they are offered, three times of four; any other tactic else.
Result<Plan> random_plan(const Network& network, const TacticSources& sources,
                         std::mt19937_64& random) {
  TacticSelection selection;
  for (const NetworkNode& node : network.nodes) {
    size_t choice = random() % node.tactics.size();
    if (is_slice(node.problem, node.tactics.back()) && random() % 4 > 0)
      choice = node.tactics.size() - 1;
    selection.tactics.push_back(node.tactics[choice]);
  }
  CHECK_OK(complete_reformats(network, sources, selection));
  selection.streams = 1 + static_cast<int>(random() % 3);
  return make_plan(network, selection);
}

// As the engine file's reader sees it.
Result<Plan> read_back(const Plan& plan) {
  TRY(const Bytes body, write_content(test::manifest_of(plan, kEveryCpu), plan));
  TRY(EngineFile file, read_unsigned_engine(std::make_shared<const Bytes>(body)));
  return std::move(file.plan);
}

// Of one piece: a tensor with a pitch is accessed pixel by pixel.
struct Access {
  int64_t begin, end;  // in the arena, or in the caller's memory behind it
  bool writes;
};
std::vector<Access> accesses_of(const Plan& plan, const PlanStep& step) {
  std::vector<Access> out;
  const auto add = [&](const ByteRange& bytes, bool writes) {
    const Storage& s = plan.storages[bytes.storage];
    const int64_t begin = s.kind == StorageKind::arena
                              ? s.offset
                              : plan.arena_bytes + (static_cast<int64_t>(bytes.storage) << 24);
    const int64_t apart = bytes.pitch > 0 ? bytes.pitch : bytes.end - bytes.begin;
    const int64_t width = bytes.pitch > 0 ? bytes.width : apart;
    for (int64_t at = bytes.begin; at < bytes.end; at += apart)
      out.push_back({begin + at, begin + at + width, writes});
  };
  for (const int t : step.inputs) {
    if (t >= 0) add(bytes_of_tensor(plan, t), false);
  }
  for (const ByteRange& bytes : bytes_written(plan, step)) add(bytes, true);
  return out;
}

// Two steps of which one writes bytes that the other touches never run at once.
void expect_no_race(const Plan& plan) {
  const StepOrder order(plan);
  for (size_t b = 0; b < plan.steps.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (plan.steps[a].tactic.view_of >= 0 || plan.steps[b].tactic.view_of >= 0) continue;
      for (const Access& one : accesses_of(plan, plan.steps[a])) {
        for (const Access& other : accesses_of(plan, plan.steps[b])) {
          const bool meet = one.begin < other.end && other.begin < one.end;
          if (!meet || !(one.writes || other.writes)) continue;
          ASSERT_TRUE(order.before(static_cast<int>(a), static_cast<int>(b)))
              << plan.steps[a].name << " and " << plan.steps[b].name;
        }
      }
    }
  }
}

void expect_right(const Plan& plan, const Graph& graph, const Target& target, uint64_t seed) {
  const auto given = test::random_inputs(graph, seed);
  const auto expected = run_graph(graph, given);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  std::vector<const void*> inputs;
  for (const int t : plan.inputs)
    inputs.push_back(given.at(plan.tensors[static_cast<size_t>(t)].name).raw());
  std::vector<Tensor> results;
  std::vector<void*> outputs;
  for (const int t : plan.outputs) {
    const TensorType& type = plan.tensors[static_cast<size_t>(t)].type;
    results.emplace_back(type.type, type.dims);
    for (float& v : results.back().mutable_data<float>()) v = NAN;
  }
  for (Tensor& t : results) outputs.push_back(t.mutable_bytes());
  auto program = Program::make(plan, *target.device, target.sources);
  ASSERT_TRUE(program.ok()) << program.error().message;
  auto execution = Execution::make(*program);
  ASSERT_TRUE(execution.ok());
  for (int run = 0; run < 2; ++run) ASSERT_TRUE((*execution)->run(inputs, outputs).ok());
  for (size_t o = 0; o < results.size(); ++o) {
    const std::string& name = graph.value(graph.outputs()[o]).name;
    const Tensor& want = expected->at(name);
    for (int64_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(results[o].data<float>()[i], want.data<float>()[i], 1e-3) << name << " at " << i;
  }
}

TEST(Slices, RandomGraphsGiveWhatTheReferenceGives) {
  BuildOptions options;
  options.threads = 2;
  const auto target = open_target(kEveryCpu, options);
  ASSERT_TRUE(target.ok()) << target.error().message;
  const uint64_t first = test::test_seed();
  size_t joins = 0, cuts = 0, inside = 0, beside = 0;
  std::set<LayoutKind> layouts;
  for (uint64_t seed = first; seed < first + kGraphs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Graph graph = test::sliced_graph(seed, 4 + static_cast<int>(seed % 20));
    const auto network = lower(graph, target->sources, {Precision::fp32});
    ASSERT_TRUE(network.ok()) << network.error().message;
    const auto plan = random_plan(*network, target->sources, random);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const auto read = read_back(*plan);
    ASSERT_TRUE(read.ok()) << read.error().message;
    for (const PlanStep& step : read->steps) {
      if (!is_slice(step.problem, step.tactic)) continue;
      (std::holds_alternative<Concat>(step.problem.op) ? joins : cuts) += 1;
      layouts.insert(step.tactic.outputs[0].layout.kind);
      inside += read->tensors[static_cast<size_t>(step.outputs[0])].offset > 0;
    }
    beside += stream_count(*read) > 1;
    expect_no_race(*read);
    expect_right(*read, graph, *target, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(layouts.size(), 3u);  // linear, channels-last and blocked
  EXPECT_GT(joins, kGraphs / 8);
  EXPECT_GT(cuts, kGraphs / 4);
  EXPECT_GT(inside, kGraphs / 8);
  EXPECT_GT(beside, kGraphs / 8);
}

}  // namespace
}  // namespace enginery
