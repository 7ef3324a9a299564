// What programs of one network have in common is prepared once.
#include "engine/runtime/prepared_steps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "engine/compile/compile.h"
#include "engine/graph/text.h"
#include "engine/runtime/program.h"
#include "tuner/analytic_choice.h"

namespace enginery {
namespace {

struct Nothing final : PreparedTactic {
  Status enqueue(Stream&, const Arguments&) const override { return {}; }
  int64_t weight_bytes() const override { return 0; }
  int64_t workspace_bytes() const override { return 0; }
};

struct StepSource final : TacticSource {
  mutable std::atomic<int> prepared = 0;
  std::chrono::milliseconds takes{0};
  bool fails = false;
  SourceTraits traits() const override { return {"counting"}; }
  Result<std::vector<Tactic>> offer(const Problem&, const std::set<Precision>&) const override {
    return std::vector<Tactic>();
  }
  Result<std::shared_ptr<const PreparedTactic>> prepare(const Problem&, const Tactic&,
                                                        Weights) const override {
    ++prepared;
    std::this_thread::sleep_for(takes);
    if (fails) return Error{ErrorCode::out_of_memory, "full"};
    return std::shared_ptr<const PreparedTactic>(std::make_shared<Nothing>());
  }
};

Problem product(int64_t columns) {
  Problem p;
  p.op = MatMul();
  p.anchor_inputs = 2;
  p.inputs.resize(2);
  p.inputs[0].type = {DataType::float32, {4, 8}};
  p.inputs[1].type = {DataType::float32, {8, columns}};
  p.inputs[1].constant = true;
  p.outputs.resize(1);
  p.outputs[0].type = {DataType::float32, {4, columns}};
  return p;
}

Tactic tactic_named(const std::string& id) {
  Tactic t;
  t.source = "counting";
  t.id = id;
  t.inputs.resize(2);
  t.outputs.resize(1);
  return t;
}

TEST(PreparedSteps, AreThoseOfOneProblemOneTacticAndTheVeryWeights) {
  const StepSource source;
  PreparedSteps steps;
  const Tensor weights(DataType::float32, {8, 2}), others(DataType::float32, {8, 2});
  const auto prepare = [&](int64_t columns, const std::string& id, const Tensor& w) {
    return steps.prepare(source, product(columns), tactic_named(id), {nullptr, &w}).value();
  };
  const auto first = prepare(2, "a", weights);
  EXPECT_EQ(prepare(2, "a", weights), first);
  EXPECT_EQ(prepare(2, "a", Tensor(weights)), first) << "a copy has the same storage";
  EXPECT_EQ(source.prepared, 1);
  EXPECT_NE(prepare(2, "b", weights), first);
  EXPECT_NE(prepare(2, "a", others), first) << "other weights, whatever their numbers";
  EXPECT_NE(prepare(1, "a", weights.reshaped({16, 1})), first);
  EXPECT_EQ(source.prepared, 4);
}

// Else weights that come to lie there later would be taken for these.
TEST(PreparedSteps, KeepTheWeightsThatTheyKnowByTheirAddress) {
  const StepSource source;
  PreparedSteps steps;
  auto bytes = std::make_shared<std::vector<float>>(16);
  const std::weak_ptr<void> kept = bytes;
  {
    const Tensor weights = Tensor::borrow(DataType::float32, {8, 2},
                                          std::shared_ptr<const void>(bytes, bytes->data()));
    bytes.reset();
    ASSERT_TRUE(steps.prepare(source, product(2), tactic_named("a"), {nullptr, &weights}).ok());
  }
  EXPECT_FALSE(kept.expired());
}

TEST(PreparedSteps, ArePreparedByOneOfThoseThatAskAtOnce) {
  StepSource source;
  source.takes = std::chrono::milliseconds(50);
  PreparedSteps steps;
  const Tensor weights(DataType::float32, {8, 2});
  std::vector<std::shared_ptr<const PreparedTactic>> got(4);
  std::vector<std::thread> threads;
  for (auto& one : got) {
    threads.emplace_back([&] {
      one = steps.prepare(source, product(2), tactic_named("a"), {nullptr, &weights}).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(source.prepared, 1);
  for (const auto& one : got) EXPECT_EQ(one, got[0]);
}

// A lack of memory may be over the next time.
TEST(PreparedSteps, KeepNoFailure) {
  StepSource source;
  PreparedSteps steps;
  const Tensor weights(DataType::float32, {8, 2});
  source.fails = true;
  EXPECT_FALSE(steps.prepare(source, product(2), tactic_named("a"), {nullptr, &weights}).ok());
  source.fails = false;
  EXPECT_TRUE(steps.prepare(source, product(2), tactic_named("a"), {nullptr, &weights}).ok());
  EXPECT_EQ(source.prepared, 2);
}

TEST(PreparedSteps, AreSharedByProgramsThatAreGivenThem) {
  BuildOptions options;
  options.threads = 1;
  const auto target = open_target("cpu-sse41", options);
  ASSERT_TRUE(target.ok()) << target.error().message;
  Graph graph;
  const ValueId x = graph.add_input("x", {DataType::float32, {4, 8}});
  const ValueId w = graph.add_constant("w", Tensor(DataType::float32, {8, 2}));
  const auto y = graph.add_node("product", MatMul(), {x, w});
  ASSERT_TRUE(y.ok() && graph.mark_output((*y)[0], "y").ok());
  const auto network = lower(std::move(graph), target->sources, {Precision::fp32});
  ASSERT_TRUE(network.ok()) << network.error().message;
  const auto selection = analytic_choice(*network, target->sources);
  ASSERT_TRUE(selection.ok()) << selection.error().message;
  PreparedSteps shared;
  const auto step_with = [&](PreparedSteps* steps) {
    const auto program = Program::make(make_plan(*network, *selection).value(), *target->device,
                                       target->sources, {}, PlanWeights::keep, steps);
    EXPECT_TRUE(program.ok());
    return std::make_pair(*program, (*program)->step(0));
  };
  const auto one = step_with(&shared), two = step_with(&shared), own = step_with(nullptr);
  ASSERT_NE(one.second, nullptr);
  EXPECT_EQ(one.second, two.second);
  EXPECT_NE(own.second, one.second);
}

}  // namespace
}  // namespace enginery
