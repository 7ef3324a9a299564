// Small files that ask for much: a result, or one clear error that names the node and the limit.
#include <onnx/onnx_pb.h>

#include <ctime>

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

std::string refusal(const ModelBuilder& model, BuildOptions options = test::one_thread()) {
  const auto loaded = load_model(model.source(), "net", options);
  if (loaded) return "";
  EXPECT_EQ(loaded.error().code, ErrorCode::unsupported) << loaded.error().message;
  return loaded.error().message;
}

TEST(Limits, RefuseAValueThatIsTooLarge) {
  ModelBuilder model;
  model.input("x", {1}).ints("huge", {65536, 65536});
  model.node("Expand", {"x", "huge"}, {"big"}).node("ReduceSum", {"big"}, {"y"}).output("y");
  const std::string message = refusal(model);
  EXPECT_TRUE(test::contains(message,
                             "node 'Expand_1' (expand): its result float32[65536x65536] takes "
                             "16384 MiB, more than 4096; --limit value_mib=16385 allows"))
      << message;
  BuildOptions more = test::one_thread();
  more.limits.value_mib = 16385;
  EXPECT_EQ(refusal(model, more), "");
}

TEST(Limits, RefuseARankThatNoValueNeeds) {
  onnx::TensorProto one;
  one.add_dims(1);
  one.set_data_type(onnx::TensorProto::INT64);
  one.add_int64_data(1);
  ModelBuilder model;
  model.input("x", {1}).ints("count", {1000});
  model.node("ConstantOfShape", {"count"}, {"ones"}, {{"value", one}});
  model.node("Reshape", {"x", "ones"}, {"y"}).output("y");
  const auto loaded = load_model(model.source(), "net", test::one_thread());
  ASSERT_FALSE(loaded.ok());
  EXPECT_TRUE(test::contains(loaded.error().message, "1000 dimensions; at most 64 are supported"))
      << loaded.error().message;
}

// 3 products of constants in 202 bytes.
TEST(Limits, RefuseConstantsThatTakeTooLong) {
  ModelBuilder model;
  model.input("x", {1}).ints("shape", {2000, 2000});
  model.node("ConstantOfShape", {"shape"}, {"a"});
  model.node("MatMul", {"a", "a"}, {"b"}).node("MatMul", {"b", "a"}, {"c"});
  model.node("ReduceSum", {"c"}, {"d"}).node("Add", {"d", "x"}, {"y"}).output("y");
  EXPECT_TRUE(test::contains(refusal(model), "--limit folded_gflop=")) << refusal(model);
}

// Values of 1 MiB that are all read at the end, and joined in rows, so that none is a part of the
// whole's memory.
TEST(Limits, RefuseAnArenaThatIsTooLarge) {
  ModelBuilder model;
  model.input("x", {2, 131072});
  std::vector<std::string> parts;
  for (const char* op : {"Sin", "Cos", "Tan", "Atan"}) {
    parts.push_back(op);
    model.node(op, {"x"}, {parts.back()});
  }
  model.node("Concat", parts, {"y"}, {{"axis", 1}}).node("Neg", {"y"}, {"z"}).output("z");
  Build build(model);
  EXPECT_TRUE(make_plan(build.network, build.selection).ok());
  build.network.graph.limits.arena_mib = 6;
  const auto plan = make_plan(build.network, build.selection);
  ASSERT_FALSE(plan.ok());
  EXPECT_TRUE(test::contains(plan.error().message,
                             "layer 'Concat_5': the values that live at the same "
                             "time take 8 MiB, more than 6; --limit "
                             "arena_mib=9 allows it"))
      << plan.error().message;
}

int64_t largest_workspace(const Network& network) {
  int64_t largest = 0;
  for (const NetworkNode& node : network.nodes) {
    for (const Tactic& tactic : node.tactics) largest = std::max(largest, tactic.workspace_bytes);
  }
  return largest;
}

TEST(Limits, KeepTacticsToTheMemoryPool) {
  ModelBuilder model;
  model.input("x", {1, 16, 32, 32}).output("y");
  model.weights("w", {16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0.5f));
  model.node("Conv", {"x", "w"}, {"y"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  const auto offered = [&](const BuildOptions& options) {
    const LoadedModel loaded = load_model(model.source(), "net", options).value();
    const Target target = open_target("cpu-sse41", options).value();
    return largest_workspace(lower_model(loaded, target, options).value());
  };
  BuildOptions options = test::one_thread();
  const int64_t most = offered(options);
  ASSERT_GT(most, 0) << "no tactic of this layer needs scratch memory: the test shows nothing";
  options.memory_pools.workspace = most;
  EXPECT_EQ(offered(options), most);
  options.memory_pools.workspace = most - 1;
  EXPECT_LT(offered(options), most);
  options.memory_pools.workspace = 0;
  EXPECT_EQ(offered(options), 0);
}

// Processor time, so that a loaded machine does not fail the test.
template <typename F>
double cpu_seconds(F&& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// As many equal branches, then one sum; and a chain in which every pass finds something.
ModelBuilder wide(int branches) {
  ModelBuilder model;
  model.input("x", {1, 4});
  std::vector<std::string> parts;
  for (int i = 0; i < branches; ++i) {
    parts.push_back("r" + std::to_string(i));
    model.node("Relu", {"x"}, {parts.back()});
  }
  model.node("Sum", parts, {"y"}).output("y");
  return model;
}
ModelBuilder deep(int layers) {
  ModelBuilder model;
  model.input("v0", {1, 4, 2, 2}).weights("s", {4}, {1, 2, 3, 4}).weights("one", {1}, {1});
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i), from = "v" + n, to = "v" + std::to_string(i + 1);
    if (i % 4 == 0) model.node("Identity", {from}, {to});
    if (i % 4 == 1) model.node("BatchNormalization", {from, "s", "s", "s", "s"}, {to});
    if (i % 4 == 2) model.node("Sigmoid", {from}, {"g" + n}).node("Mul", {from, "g" + n}, {to});
    if (i % 4 == 3) model.node("Tanh", {from}, {to});
  }
  model.output("v" + std::to_string(layers));
  return model;
}

// Quadratic would be 16 times as long for 4 times the nodes.
TEST(Limits, TimeGrowsWithTheNumberOfNodes) {
  for (const auto make : {wide, deep}) {
    const auto seconds = [&](int nodes) {
      const ModelBuilder model = make(nodes);
      return cpu_seconds([&] { EXPECT_NE(Build(model).content()->size(), 0u); });
    };
    const double few = seconds(500), many = seconds(2000);
    EXPECT_LT(many, 9 * few + 0.3) << few << " s, then " << many << " s";
  }
}

}  // namespace
}  // namespace enginery
