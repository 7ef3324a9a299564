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
  EXPECT_EQ(accuracy->wrong, "");
  EXPECT_LE(accuracy->worst_error, accuracy->bar);
}

void expect_wrong(const test::ModelBuilder& model, const PassOptions& passes) {
  const auto accuracy = Build(model, passes).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
  EXPECT_NE(accuracy->wrong, "");
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

// Adds one to the last row of the first output: rows that are compared are all of them.
Result<int> change_last_row(Graph& graph) {
  const ValueId y = graph.outputs()[0];
  const int64_t rows = graph.value(y).type.dims[0];
  std::vector<float> steps(static_cast<size_t>(rows), 0);
  steps.back() = 1;
  const ValueId c =
      graph.add_constant("c", Tensor::of<float>({rows, 1, 1, 1}, std::span<const float>(steps)));
  TRY(const auto sum, graph.add_node("sum", Binary{BinaryKind::add}, {y, c}));
  graph.set_output(0, sum[0]);
  return 1;
}

TEST(Verify, AcceptsARightEngine) {
  expect_right(test::small_convolution());
  expect_right(test::two_outputs());
}

// Inputs that have no number of rows in common are not a batch of rows.
TEST(Verify, AcceptsInputsOfDifferentFirstSizes) {
  test::ModelBuilder model;
  model.input("a", {1, 4}).input("b", {3, 4}).node("Add", {"a", "b"}, {"y"}).output("y");
  expect_right(model);
}

TEST(Verify, AcceptsAnInputThatIsAnOutput) {
  test::ModelBuilder alone;
  alone.input("x", {2, 4}).output("x");
  expect_right(alone);
  test::ModelBuilder beside;
  beside.input("x", {2, 4}).node("Relu", {"x"}, {"y"}).output("y").output("x");
  expect_right(beside);
}

// The largest of so many elements is computed by the passes alone: an output's size is not known
// when the model is read.
TEST(Verify, AcceptsSizesThatThePassesFindOut) {
  test::ModelBuilder model;
  model.input("x", {2, 3}).output("y").ints("many", {1 << 22}).ints("six", {6});
  model.node("ConstantOfShape", {"many"}, {"zeros"}).node("ReduceMax", {"zeros"}, {"none"});
  model.node("Cast", {"none"}, {"zero"}, {{"to", test::kInt64}}).ints("flat", {-1});
  model.node("Reshape", {"zero", "flat"}, {"first"}).node("Add", {"first", "six"}, {"size"});
  model.node("Reshape", {"x", "size"}, {"y"});
  const auto imported = model.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.value(graph.outputs()[0]).type.dims, (Dims{kDynamic}));
  expect_right(model);
}

Result<int> round_up(Graph& graph) {
  int changed = 0;
  for (NodeId id = 0; id < graph.node_count(); ++id) {
    auto* unary = std::get_if<Unary>(&graph.node(id).op);
    if (graph.node(id).erased || !unary || unary->kind != UnaryKind::floor) continue;
    unary->kind = UnaryKind::ceil;
    ++changed;
  }
  return changed;
}

// Counts are the same in every engine: a row beside the right one is wrong.
TEST(Verify, KnowsCountsToTheBit) {
  expect_right(test::rows_by_halved_positions());
  constexpr Pass kWrong[] = {{"wrong", round_up}};
  expect_wrong(test::rows_by_halved_positions(),
               {.skip = {}, .dump = {}, .log = {}, .list = kWrong});
}

// 3.9999 may be 4 in an engine, and 4 is no row.
TEST(Verify, AcceptsPositionsThatAnErrorMovesPastTheEnd) {
  test::ModelBuilder model;
  model.input("x", {64}).output("y").weights("many", {1}, {1000}).weights("none", {}, {0});
  model.weights("most", {}, {3.9999f}).weights("table", {4}, {1, 2, 4, 8});
  model.node("Mul", {"x", "many"}, {"wide"}).node("Clip", {"wide", "none", "most"}, {"near"});
  model.node("Floor", {"near"}, {"row"}).node("Cast", {"row"}, {"i"}, {{"to", test::kInt64}});
  model.node("Gather", {"table", "i"}, {"y"});
  expect_right(model);
}

TEST(Verify, RejectsTheEngineOfAWrongPass) {
  constexpr Pass kWrong[] = {
      {"wrong", swap_activations<ActivationKind::relu, ActivationKind::tanh>}};
  expect_wrong(test::two_outputs(), {.skip = {}, .dump = {}, .log = {}, .list = kWrong});
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

// Rows of the batch, repeated over it: every row of the engine is looked at.
TEST(Verify, ComparesSomeRowsWhereTheReferenceTakesTooLong) {
  test::ModelBuilder model;
  model.input("x", {8, 4, 16, 16}).weights("w", {4, 4, 3, 3}, std::vector<float>(144, 0.1f));
  model.node("Conv", {"x", "w"}, {"y"}).output("y");
  const double flops = 2.0 * 8 * 4 * 14 * 14 * 36;
  constexpr Pass kWrong[] = {{"wrong", change_last_row}};
  for (const bool wrong : {false, true}) {
    PassOptions passes;
    if (wrong) passes.list = kWrong;
    const Build build(model, passes);
    const auto accuracy = verify_content(build.model, build.content(), build.target,
                                         {.inputs = {}, .max_reference_flops = flops / 2});
    ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
    EXPECT_EQ(accuracy->skipped, "");
    EXPECT_EQ(accuracy->notes, std::vector<std::string>{
                                   "compared with the reference on 3 rows, repeated over the batch "
                                   "of 8"});
    EXPECT_EQ(accuracy->wrong != "", wrong) << accuracy->wrong;
  }
}

// One row is never too much.
TEST(Verify, AlwaysComparesARow) {
  const Build build(test::small_convolution());
  const auto accuracy = verify_content(build.model, build.content(), build.target,
                                       {.inputs = {}, .max_reference_flops = 1});
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
}

TEST(Verify, RunsOnGivenInputs) {
  const Build build(test::two_outputs());
  const auto verify = [&](Dims dims) {
    Tensor x(DataType::float32, std::move(dims));
    std::ranges::fill(x.mutable_data<float>(), std::nanf(""));
    return verify_content(build.model, build.content(), build.target, {.inputs = {x}});
  };
  const auto accuracy = verify({1, 2, 4, 4});
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->notes.size(), 2u) << "both outputs of NaN are NaN";
  const auto other = verify({1, 2, 4, 5});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
}

TEST(Verify, RefusesDamagedContent) {
  const Build build(test::small_convolution());
  Bytes damaged = *build.content();
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  const auto accuracy =
      verify_content(build.model, std::make_shared<const Bytes>(damaged), build.target);
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
