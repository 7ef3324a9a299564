// Files that are broken or mean harm: each gets one clear error, quickly, within little memory.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <sys/resource.h>

#include <ctime>
#include <random>

#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

Result<ImportedModel> import_bytes(Bytes bytes) {
  return import_model(ModelSource{"hostile.onnx", std::move(bytes), std::nullopt});
}

// The import fails, as a broken file does, and its message has `part`.
void expect_refused(const Result<ImportedModel>& imported, const std::string& part) {
  ASSERT_FALSE(imported.ok()) << "imported; expected: " << part;
  EXPECT_TRUE(imported.error().code == ErrorCode::invalid_argument ||
              imported.error().code == ErrorCode::unsupported)
      << to_string(imported.error().code) << ": " << imported.error().message;
  EXPECT_TRUE(contains(imported.error().message, part)) << imported.error().message;
}

// Processor time, so that a loaded machine does not fail the test.
double cpu_seconds_since(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST(HostileOnnx, EmptyFile) {
  expect_refused(import_bytes(""), "the file is empty");
}

TEST(HostileOnnx, NotAModelAtAll) {
  expect_refused(
      import_model(ModelSource{"cat.jpg", "\xff\xd8\xff\xe0 some picture", std::nullopt}),
      "not a model of a known format");
}

TEST(HostileOnnx, AnEngineIsNamedAsOne) {
  expect_refused(import_model(ModelSource{"a.engine", "ENGINERY and more", std::nullopt}),
                 "it is an engine, which was built of a model");
}

TEST(HostileOnnx, TruncatedAnywhere) {
  Bytes whole = small_convolution().bytes();
  for (size_t n = 1; n < whole.size(); ++n) {
    auto imported = import_bytes(whole.substr(0, n));
    EXPECT_FALSE(imported.ok()) << "cut after " << n << " of " << whole.size();
  }
  EXPECT_TRUE(import_bytes(whole).ok());
}

TEST(HostileOnnx, RandomBytes) {
  const uint32_t seed = 20240613;
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes(random() % 600 + 1, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    EXPECT_FALSE(import_bytes(bytes).ok()) << "seed " << seed << ", round " << i;
  }
}

TEST(HostileOnnx, Cycle) {
  ModelBuilder m;
  m.input("x", {1}).output("y");
  m.node("Relu", {"x"}, {"p"})
      .node("Add", {"x", "b"}, {"a"})
      .node("Neg", {"a"}, {"b"})
      .node("Abs", {"b"}, {"y"});
  expect_refused(m.import(), "the graph has a cycle: node '");
  ModelBuilder self;
  self.input("x", {1}).output("y").node("Add", {"x", "y"}, {"y"});
  expect_refused(self.import(), "depends on its own output");
}

// Each node asks for constants that its attributes make large: waves, grids, masks.
TEST(HostileOnnx, ConstantsThatFewBytesAskFor) {
  ModelBuilder m(18);
  m.input("x", {1, 2048, 1}).output("y");
  for (int i = 0; i < 200; ++i)
    m.node("DFT", {i == 0 ? "x" : "y" + std::to_string(i - 1)}, {"y" + std::to_string(i)});
  m.node("Relu", {"y199"}, {"y"});
  expect_refused(m.import(), "take too much memory");
}

// A call passes a long list on to thousands of nodes, each of which would copy it.
TEST(HostileOnnx, AListThatAFunctionPassesOn) {
  ModelBuilder body(18), m(18);
  body.input("v0", {}).output("v2000");
  for (int i = 0; i < 2000; ++i)
    body.node("Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)},
              {Attr::reference("surprise", "list")});
  m.input("x", {1}).output("y").function("pass", std::move(body), {"list"});
  m.call("pass", {"x"}, {"y"}, {{"list", std::vector<int64_t>(1'000'000, 1)}});
  const std::clock_t start = std::clock();
  EXPECT_FALSE(m.import().ok());
  EXPECT_LT(cpu_seconds_since(start), 20) << "2000 copies of it take longer";
}

TEST(HostileOnnx, SizesOfSamplesThatOverflow) {
  ModelBuilder regions(18), kernel(18);
  regions.input("x", {1, 1, 4, 4}).input("r", {1, 4}).input("b", {1}, kInt64).output("y");
  regions.node("RoiAlign", {"x", "r", "b"}, {"y"},
               {{"output_height", INT64_MAX}, {"output_width", 3}, {"sampling_ratio", 2}});
  expect_refused(regions.import(), "out of range");
  kernel.input("x", {1, 1, 4, 4})
      .input("o", {1, 2, 4, 4})
      .output("y")
      .weights("w", {1, 1, 1, 1}, {1});
  kernel.node("DeformConv", {"x", "w", "o"}, {"y"},
              {{"strides", std::vector<int64_t>{INT64_MAX, 1}}});
  expect_refused(kernel.import(), "out of range");
}

TEST(HostileOnnx, ValueMadeTwice) {
  ModelBuilder m;
  m.input("x", {1}).output("y").node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"y"});
  expect_refused(m.import(), "its output 'y' is already the name of another value");
  ModelBuilder input;
  input.input("x", {1}).output("x").node("Relu", {"x"}, {"x"});
  expect_refused(input.import(), "'x' is already the name of another value");
}

TEST(HostileOnnx, NamesTwice) {
  ModelBuilder inputs;
  inputs.input("x", {1}).input("x", {1}).output("y").node("Relu", {"x"}, {"y"});
  expect_refused(inputs.import(), "two inputs are called 'x'");
  ModelBuilder weights;
  weights.input("x", {1})
      .output("y")
      .weights("w", {1}, {1})
      .weights("w", {1}, {2})
      .node("Add", {"x", "w"}, {"y"});
  expect_refused(weights.import(), "two initialisers are called 'w'");
  ModelBuilder attributes;
  attributes.input("x", {1, 1})
      .output("y")
      .node("Softmax", {"x"}, {"y"}, {{"axis", 0}, {"axis", 1}});
  expect_refused(attributes.import(), "attribute axis is given twice");
}

TEST(HostileOnnx, NothingToReadFrom) {
  ModelBuilder m;
  m.input("x", {1}).output("y").node("Add", {"x", "ghost"}, {"y"});
  expect_refused(m.import(), "it reads 'ghost', which nothing makes");
  ModelBuilder output;
  output.input("x", {1}).output("nowhere").node("Relu", {"x"}, {"y"});
  expect_refused(output.import(), "output 'nowhere' is made by nothing");
  ModelBuilder none;
  none.input("x", {1}).node("Relu", {"x"}, {"y"});
  expect_refused(none.import(), "no output");
}

TEST(HostileOnnx, WeightsOfTheWrongLength) {
  ModelBuilder few = small_convolution();
  few.graph().mutable_initializer(0)->mutable_float_data()->RemoveLast();
  expect_refused(few.import(), "tensor 'w': it holds 53 elements, float32[3x2x3x3] needs 54");
  ModelBuilder raw = small_convolution();
  raw.graph().mutable_initializer(0)->clear_float_data();
  raw.graph().mutable_initializer(0)->set_raw_data("odd");
  expect_refused(raw.import(), "it holds 3 bytes, float32[3x2x3x3] needs 216");
  ModelBuilder twice = small_convolution();
  twice.graph().mutable_initializer(0)->set_raw_data(std::string(216, '\0'));
  expect_refused(twice.import(), "stored twice");
}

TEST(HostileOnnx, BrokenWeightsThatNothingUses) {
  ModelBuilder m = small_convolution();
  m.weights("spare", {7}, {1, 2, 3});
  expect_refused(m.import(), "tensor 'spare'");
}

TEST(HostileOnnx, ImpossibleSizes) {
  ModelBuilder negative;
  negative.input("x", {1, -3}).output("y").node("Relu", {"x"}, {"y"});
  expect_refused(negative.import(), "a dimension is negative: -3");
  ModelBuilder huge;
  huge.input("x", {1, int64_t{1} << 40}).output("y").node("Relu", {"x"}, {"y"});
  expect_refused(huge.import(), "a dimension of 1099511627776 is too large");
  ModelBuilder product;
  product.input("x", {1 << 30, 1 << 30, 1 << 30}).output("y").node("Relu", {"x"}, {"y"});
  expect_refused(product.import(), "input 'x'");
  for (int64_t size : {int64_t{-1}, int64_t{1} << 40, int64_t{1} << 62, INT64_MAX, INT64_MIN}) {
    ModelBuilder weights = small_convolution();
    weights.graph().mutable_initializer(0)->set_dims(0, size);
    expect_refused(weights.import(), "tensor 'w': a dimension is");
  }
}

TEST(HostileOnnx, ResultsTooLargeToExist) {
  ModelBuilder m;
  m.input("x", {1, 1})
      .output("y")
      .ints("to", {int64_t{1} << 31, int64_t{1} << 31, 2})
      .node("Expand", {"x", "to"}, {"y"});
  expect_refused(m.import(), "node 'Expand_1' (Expand)");
  ModelBuilder fill;
  fill.output("y").ints("to", {int64_t{1} << 38}).node("ConstantOfShape", {"to"}, {"y"});
  expect_refused(fill.import(), "2^31");
}

// Chains of constant nodes that would double a tensor each: folding while reading stays within its
// budget.
TEST(HostileOnnx, FoldingIsBounded) {
  ModelBuilder m;
  m.input("x", {1}).output("y").weights("c0", {1024}, std::vector<float>(1024, 1.0f));
  for (int i = 0; i < 20; ++i) {
    std::string from = "c" + std::to_string(i), to = "c" + std::to_string(i + 1);
    m.node("Concat", {from, from}, {to}, {{"axis", 0}});
  }
  m.node("ReduceSum", {"c20"}, {"s"}, {{"keepdims", 0}}).node("Add", {"x", "s"}, {"y"});
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  for (ValueId v = 0; v < imported->graph.value_count(); ++v) {
    const auto& constant = imported->graph.value(v).constant;
    EXPECT_LE(constant ? constant->size() : 0, 1 << 21);
  }
}

TEST(HostileOnnx, AMillionNodes) {
  ModelBuilder m;
  m.input("x", {1}).output("y");
  for (int i = 0; i < 1'000'000; ++i) {
    auto* node = m.graph().add_node();
    node->set_op_type("Relu");
    node->add_input(i == 0 ? "x" : "v" + std::to_string(i - 1));
    node->add_output(i == 999'999 ? "y" : "v" + std::to_string(i));
  }
  Bytes bytes = m.bytes();
  m.model().Clear();
  std::clock_t start = std::clock();
  expect_refused(import_bytes(std::move(bytes)), "1000000 nodes");
  EXPECT_LT(cpu_seconds_since(start), 20);
}

TEST(HostileOnnx, ManyNodesAreFast) {
  ModelBuilder m;
  m.input("x", {1}).output("y");
  const int n = 100'000;
  for (int i = 0; i < n; ++i) {
    auto* node = m.graph().add_node();
    node->set_op_type(i % 2 ? "Relu" : "Neg");
    node->set_name("same");
    node->add_input(i == 0 ? "x" : "v" + std::to_string(i - 1));
    node->add_output(i == n - 1 ? "y" : "v" + std::to_string(i));
  }
  std::clock_t start = std::clock();
  auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_LT(cpu_seconds_since(start), 20);
  EXPECT_EQ(imported->graph.live_node_count(), n);
}

// Two bytes of wire format an empty node, some 200 in memory.
TEST(HostileOnnx, SmallFilesThatWouldBeLargeInMemory) {
  Bytes graph;
  for (int i = 0; i < 8'000'000; ++i) graph += Bytes("\x0a\x00", 2);
  Bytes model = "\x08\x07\x3a";
  for (size_t n = graph.size();; n >>= 7) {
    model += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
    if (n <= 0x7f) break;
  }
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  expect_refused(import_bytes(model + graph), "too much memory");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 256 * 1024) << "kilobytes";
}

// Graph in attribute in node in graph ...
TEST(HostileOnnx, DeepNesting) {
  ModelBuilder m;
  m.input("x", {1}).output("y");
  onnx::GraphProto* graph = &m.graph();
  for (int i = 0; i < 40; ++i) {
    auto* attribute = graph->add_node()->add_attribute();
    attribute->set_name("body");
    attribute->set_type(onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  expect_refused(m.import(), "nests deeper");
}

TEST(HostileOnnx, OddInputTypes) {
  ModelBuilder strings;
  strings.input("x", {1}, kString).output("y").node("Identity", {"x"}, {"y"});
  expect_refused(strings.import(), "input 'x': string elements");
  ModelBuilder none;
  none.input("x", {1}, 77).output("y").node("Identity", {"x"}, {"y"});
  expect_refused(none.import(), "element type 77");
  ModelBuilder sequence;
  sequence.input("x", {1}).output("y").node("Identity", {"x"}, {"y"});
  sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  expect_refused(sequence.import(), "it is not a tensor");
}

TEST(HostileOnnx, AttributesOfTheWrongKind) {
  ModelBuilder kind;
  kind.input("x", {1, 3}).output("y").node("Softmax", {"x"}, {"y"}, {{"axis", "one"}});
  expect_refused(kind.import(), "attribute axis is not an integer");
  for (int64_t stride : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    ModelBuilder strides = small_convolution();
    auto* a = strides.graph().mutable_node(0)->add_attribute();
    a->set_name("strides");
    a->set_type(onnx::AttributeProto::INTS);
    a->add_ints(stride);
    a->add_ints(1);
    expect_refused(strides.import(), "attribute strides holds");
  }
  ModelBuilder few = small_convolution();
  few.graph().mutable_node(0)->mutable_attribute(0)->mutable_ints()->RemoveLast();
  expect_refused(few.import(), "attribute pads has 3 entries");
}

}  // namespace
}  // namespace enginery::test
