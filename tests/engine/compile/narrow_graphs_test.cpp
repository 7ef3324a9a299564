// Graphs of float16 and bfloat16 on a CPU: run by the float32 kernels, not by the reference, and
// right within what their types round.
#include <algorithm>
#include <random>

#include "engine/compile/float16_overflow.h"
#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

constexpr int kFloat16 = 10, kBFloat16 = 16, kDouble = 11;  // TensorProto.DataType

// A model whose weights are written in float32 and cast to its type.
class NarrowModel {
 public:
  NarrowModel(int type, const std::vector<test::Size>& sizes) : type_(type) {
    model_.input("x", sizes, type);
  }
  // y = relu(conv(x) + b), padded to keep the size.
  NarrowModel& convolution(const std::string& x, const std::string& y, int64_t in, int64_t out,
                           int64_t kernel) {
    weights(y + ".w", {out, in, kernel, kernel});
    weights(y + ".b", {out});
    const std::vector<int64_t> pads(4, kernel / 2);
    model_.node("Conv", {x, y + ".w", y + ".b"}, {y + ".c"}, {{"pads", pads}});
    model_.node("Relu", {y + ".c"}, {y});
    return *this;
  }
  ModelBuilder& builder() { return model_; }

 private:
  void weights(const std::string& name, const std::vector<int64_t>& dims) {
    int64_t n = 1;
    for (const int64_t d : dims) n *= d;
    std::normal_distribution<float> normal(0, 0.3f);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& v : values) v = normal(random_);
    model_.weights(name + ".wide", dims, values);
    model_.node("Cast", {name + ".wide"}, {name}, {{"to", type_}});
  }

  const int type_;
  ModelBuilder model_;
  std::mt19937 random_{7};
};

// A stem, a fire module and a classifier, as SqueezeNet has them.
ModelBuilder small_squeezenet(int type) {
  NarrowModel net(type, {1, 3, 32, 32});
  ModelBuilder& m = net.builder();
  const std::vector<int64_t> two{2, 2}, three{3, 3};
  net.convolution("x", "stem", 3, 16, 3);
  m.node("MaxPool", {"stem"}, {"pool"}, {{"kernel_shape", three}, {"strides", two}});
  net.convolution("pool", "squeeze", 16, 8, 1).convolution("squeeze", "e1", 8, 16, 1);
  net.convolution("squeeze", "e3", 8, 16, 3);
  m.node("Concat", {"e1", "e3"}, {"fire"}, {{"axis", 1}});
  net.convolution("fire", "classes", 32, 10, 1);
  m.node("GlobalAveragePool", {"classes"}, {"mean"}).node("Flatten", {"mean"}, {"flat"});
  m.node("Softmax", {"flat"}, {"y"}, {{"axis", 1}}).output("y");
  return std::move(m);
}

std::vector<std::string> run_by_reference(const Build& build) {
  std::vector<std::string> out;
  for (size_t i = 0; i < build.selection.tactics.size(); ++i) {
    if (build.selection.tactics[i].source == "reference")
      out.push_back(build.network.nodes[i].name);
  }
  for (const auto& [key, tactic] : build.selection.reformats) {
    if (tactic.source == "reference") out.push_back("reformat to " + to_string(key.to));
  }
  return out;
}

struct NarrowCase {
  const char* name;
  int type;
  double bar;  // some roundings to the type
};

TEST(NarrowGraphs, NoStepOfAConvolutionalNetworkIsRunByTheReference) {
  for (const NarrowCase& c :
       {NarrowCase{"float16", kFloat16, 3e-3}, NarrowCase{"bfloat16", kBFloat16, 3e-2}}) {
    SCOPED_TRACE(c.name);
    const Build build(small_squeezenet(c.type));
    EXPECT_EQ(run_by_reference(build), std::vector<std::string>());
    const auto accuracy = build.verify();
    ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
    EXPECT_EQ(accuracy->skipped, "");
    EXPECT_EQ(accuracy->wrong, "");
    EXPECT_LE(accuracy->worst_error, c.bar);
  }
}

// The model's inputs and outputs stay what they are; so do the values in between, as types.
TEST(NarrowGraphs, InputsAndOutputsKeepTheirTypes) {
  const Build build(small_squeezenet(kFloat16));
  const auto engine = read_unsigned_engine(build.content());
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  const Plan& plan = engine->plan;
  for (const int t : {plan.inputs[0], plan.outputs[0]}) {
    const PlanTensor& tensor = plan.tensors[static_cast<size_t>(t)];
    EXPECT_EQ(tensor.type.type, DataType::float16);
    EXPECT_EQ(tensor.format, (Format{DataType::float16, {}}));
  }
}

// A graph of float32 with a part in float16, as mixed precision writes it: casts are kernels too.
TEST(NarrowGraphs, CastsInsideAGraphAreKernels) {
  ModelBuilder m;
  m.input("x", {1, 8, 16, 16}).node("Cast", {"x"}, {"h"}, {{"to", kFloat16}});
  m.node("Relu", {"h"}, {"r"}).node("Cast", {"r"}, {"y"}, {{"to", test::kFloat}}).output("y");
  const Build build(m);
  EXPECT_EQ(run_by_reference(build), std::vector<std::string>());
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->wrong, "");
}

// 8-bit floats and 4-bit integers come in, are moved, made and given out; what they become is
// computed by kernels.
TEST(NarrowGraphs, TypesForStorageAreRunByTheReference) {
  constexpr int kFloat8 = 17, kInt4 = 22;
  ModelBuilder m;
  m.input("x", {2, 4, 8}, kFloat8).weights("scale", {}, {0.25f});
  m.node("Transpose", {"x"}, {"t"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  m.node("DequantizeLinear", {"t", "scale"}, {"d"}).node("Sigmoid", {"d"}, {"s"});
  m.node("QuantizeLinear", {"s", "scale"}, {"four"}, {{"output_dtype", kInt4}});
  m.node("Cast", {"s"}, {"eight"}, {{"to", kFloat8}, {"saturate", 0}});
  m.output("four").output("eight");
  const Build build(m);
  EXPECT_EQ(run_by_reference(build).size(), 4u);
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
  EXPECT_EQ(accuracy->wrong, "");
  const auto engine = read_unsigned_engine(build.content());
  ASSERT_TRUE(engine.ok()) << engine.error().message;
  std::vector<DataType> types;
  for (const int t : engine->plan.outputs)
    types.push_back(engine->plan.tensors[static_cast<size_t>(t)].type.type);
  EXPECT_EQ(types, (std::vector<DataType>{DataType::int4, DataType::float8e4m3fn}));
}

// The constant's numbers are weights: no text of them selects code.
TEST(NarrowGraphs, ConstantsForStorageAreWeights) {
  ModelBuilder m;
  m.input("x", {4}).weights("scale", {}, {0.5f}).weights("number", {}, {1.5f});
  m.node("Cast", {"number"}, {"zero"}, {{"to", 19}});
  m.node("QuantizeLinear", {"x", "scale", "zero"}, {"q"});
  m.node("Cast", {"q"}, {"y"}, {{"to", test::kFloat}}).output("y");
  const Build build(m);
  const auto quantize = std::ranges::find_if(build.network.nodes, [](const NetworkNode& node) {
    return std::holds_alternative<Quantize>(node.problem.op);
  });
  ASSERT_NE(quantize, build.network.nodes.end());
  EXPECT_TRUE(quantize->problem.inputs[2].constant);
  EXPECT_FALSE(quantize->problem.inputs[2].value);
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->wrong, "");
}

// Values that float16 does not hold: the message names the layer and what to do.
TEST(NarrowGraphs, AnOverflowOfTheModelsOwnTypeIsSaid) {
  ModelBuilder m;
  m.input("x", {1, 4, 8, 8}, kFloat16).weights("large", {}, {60000}).weights("small", {}, {1e-4f});
  m.node("Cast", {"large"}, {"l"}, {{"to", kFloat16}});
  m.node("Cast", {"small"}, {"s"}, {{"to", kFloat16}});
  m.node("Mul", {"x", "l"}, {"a"}).node("Mul", {"a", "l"}, {"b"});
  m.node("Mul", {"b", "s"}, {"c"}).node("Mul", {"c", "s"}, {"y"}).output("y");
  const auto accuracy = Build(m, {.skip = {}, .dump = {}, .log = {}, .list = {}}).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_TRUE(test::contains(accuracy->wrong, "layer 'Mul_3' (binary) overflows float16"))
      << accuracy->wrong;
  EXPECT_TRUE(test::contains(accuracy->wrong, "float32 or bfloat16")) << accuracy->wrong;
}

Float16Overflow overflow_of(const std::set<std::string>& stored) {
  const Graph graph = parse_graph(R"(graph t {
    input %x : float32[2]
    %a = binary(%x, %x) kind=add
    %b = binary(%a, %a) kind=mul
    %c = binary(%b, %b) kind=mul
    %d = act(%c) kind=tanh
    %e = binary(%d, %d) kind=add
    output %e
  })")
                          .value();
  return float16_overflow(graph, {Tensor::of<float>({2}, {200, 1})}, stored).value();
}

TEST(Float16Overflow, NamesTheFirstLayerOfThoseStoredInFloat16) {
  EXPECT_EQ(overflow_of({}).first, "");
  EXPECT_EQ(overflow_of({"a"}).first, "") << "400 fits";
  const std::string all = overflow_of({"a", "b", "c"}).first;
  EXPECT_TRUE(test::contains(all, "gives 1.6e+05, more than the 65504")) << all;
  EXPECT_TRUE(test::contains(overflow_of({"c"}).remedy, "--precision fp32 or bf16"));
}

// What is made of such a value overflows as well, however that is stored at the moment; and float16
// is no use to who reads it.
TEST(Float16Overflow, TellsTheLayersThatGiveOrReadSuchValues) {
  using Names = std::set<std::string>;
  EXPECT_EQ(overflow_of({"a"}).layers, Names());
  EXPECT_EQ(overflow_of({"b"}).layers, (Names{"b", "c", "d"}));
  EXPECT_EQ(overflow_of({"c"}).layers, (Names{"c", "d"}));
}

// A float64 graph is computed in double, whatever that costs: float32 would not be what it says.
TEST(NarrowGraphs, Float64StaysFloat64) {
  ModelBuilder m;
  m.input("x", {4}, kDouble).node("Exp", {"x"}, {"y"}).output("y");
  const Build build(m);
  EXPECT_TRUE(run_by_reference(build).empty()) << "a kernel computes it in double";
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->worst_error, 0);
}

}  // namespace
}  // namespace enginery
