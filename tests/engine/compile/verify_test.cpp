// What verification sees: a wrong kernel, a wrong pass, a wrong output whichever it is.
#include <cmath>

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;

void expect_right(const test::ModelBuilder& model, const PassOptions& passes = {}) {
  const auto accuracy = Build(model, passes).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
  EXPECT_LE(accuracy->worst_error, accuracy->bar);
}

void expect_wrong(const test::ModelBuilder& model, const PassOptions& passes) {
  const auto accuracy = Build(model, passes).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
  EXPECT_GT(accuracy->worst_error, accuracy->bar);
}

// Replaces activations of one kind by another: a pass that gives a sound graph of another function.
template <ActivationKind from, ActivationKind to>
Result<int> swap_activations(Graph& graph) {
  int changed = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    auto* activation = std::get_if<Activation>(&graph.node(id).op);
    if (graph.node(id).erased || !activation || activation->kind != from) continue;
    activation->kind = to;
    ++changed;
  }
  return changed;
}

// Drops every Cast, as a pass would that only compares dims.
Result<int> drop_casts(Graph& graph) {
  int changed = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    const Node& node = graph.node(id);
    if (node.erased || !std::holds_alternative<Cast>(node.op)) continue;
    graph.replace_uses(node.outputs[0], node.inputs[0]);
    graph.erase_node(id);
    ++changed;
  }
  return changed;
}

TEST(Verify, AcceptsARightEngine) {
  expect_right(test::small_convolution());
  expect_right(test::two_outputs());
}

TEST(Verify, RejectsTheEngineOfAWrongPass) {
  constexpr Pass kWrong[] = {
      {"wrong", swap_activations<ActivationKind::relu, ActivationKind::tanh>}};
  expect_wrong(test::two_outputs(), {.skip = {}, .dump = {}, .log = {}, .list = kWrong});
}

// The real list, with one pass that is wrong at its end.
TEST(Verify, RejectsTheEngineOfOneWrongPassAmongRightOnes) {
  test::ModelBuilder model;
  model.input("x", {1, 16}).node("Cast", {"x"}, {"whole"}, {{"to", 6}});
  model.node("Cast", {"whole"}, {"back"}, {{"to", test::kFloat}}).node("Mul", {"back", "x"}, {"y"});
  model.output("y");
  expect_right(model);
  std::vector<Pass> list = pass_list();
  list.push_back({"drop_casts", drop_casts});
  expect_wrong(model, {.skip = {}, .dump = {}, .log = {}, .list = list});
}

TEST(Verify, ComparesEveryOutput) {
  constexpr Pass kFirst[] = {
      {"wrong", swap_activations<ActivationKind::relu, ActivationKind::sigmoid>}};
  constexpr Pass kSecond[] = {
      {"wrong", swap_activations<ActivationKind::tanh, ActivationKind::sigmoid>}};
  expect_wrong(test::two_outputs(), {.skip = {}, .dump = {}, .log = {}, .list = kFirst});
  expect_wrong(test::two_outputs(), {.skip = {}, .dump = {}, .log = {}, .list = kSecond});
}

// Removing an identity gives an input the output's name.
TEST(Verify, KeepsInputsAndOutputsApartWhereAPassMakesThemOneValue) {
  test::ModelBuilder model;
  model.input("x", {2, 3}).node("Identity", {"x"}, {"y"}).node("Relu", {"x"}, {"z"});
  model.output("y").output("z");
  expect_right(model);
}

// Multiplied by 3e11 the reference would take minutes: it says so and compares nothing.
TEST(Verify, SkipsWhatTheReferenceCannotCompute) {
  test::ModelBuilder model;
  const std::vector<float> weights(256 * 256 * 9, 0.01f);
  model.input("x", {1, 256, 512, 512}).weights("w", {256, 256, 3, 3}, weights);
  model.node("Conv", {"x", "w"}, {"y"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}).output("y");
  const auto accuracy = Build(model).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "the reference would need 309 GFLOP");
}

TEST(Verify, RefusesDamagedContent) {
  const Build build(test::small_convolution());
  Bytes damaged = *build.content();
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  const auto accuracy = verify_content(build.model, std::make_shared<const Bytes>(damaged),
                                       build.target, test::one_thread());
  ASSERT_FALSE(accuracy.ok());
  EXPECT_EQ(accuracy.error().code, ErrorCode::untrusted);
}

// What an engine may be wrong by is a promise to users: every number is pinned.
TEST(AccuracyBar, IsThatOfTheLeastExactPrecision) {
  using enum Precision;
  EXPECT_EQ(accuracy_bar({fp32}, DeviceKind::cpu), 1e-3);
  EXPECT_EQ(accuracy_bar({fp32}, DeviceKind::cuda), 1e-4);
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    EXPECT_EQ(accuracy_bar({fp32, tf32}, kind), 1e-2);
    EXPECT_EQ(accuracy_bar({fp32, fp16}, kind), 1e-2);
    EXPECT_EQ(accuracy_bar({fp32, bf16}, kind), 5e-2);
    EXPECT_EQ(accuracy_bar({fp32, int8}, kind), 5e-2);
    EXPECT_EQ(accuracy_bar({fp32, tf32, fp16, bf16}, kind), 5e-2);
  }
}

TEST(LoadModel, KeepsTheGraphAsImportedAndSharesItsConstants) {
  const Build build(test::small_convolution());
  const Graph &imported = build.model.imported, &graph = build.model.graph;
  EXPECT_EQ(imported.inputs().size(), graph.inputs().size());
  for (NodeId id : imported.topological_order()) EXPECT_EQ(imported.node(id).group, kNoGroup);
  std::set<const void*> constants;
  for (ValueId v = 0; v < imported.value_count(); ++v) {
    if (const Tensor* t = imported.constant(v)) constants.insert(t->raw());
  }
  int shared = 0;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (const Tensor* t = graph.constant(v)) shared += constants.contains(t->raw());
  }
  EXPECT_GT(shared, 0) << "the weights are in memory twice";
}

}  // namespace
}  // namespace enginery
