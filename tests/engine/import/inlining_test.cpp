// Functions of the model, branches, loops and sequences: read in place, until only tensors are
// left.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/engine/import/model_builder.h"
#include "tests/support/reference_executor.h"

namespace enginery::test {
namespace {

using FloatList = std::vector<float>;

// y of the model for x = 1, 2, 3, 4; empty, and a failure, on any error.
FloatList result_of(const ModelBuilder& model) {
  auto imported = model.import();
  if (!imported.ok()) {
    ADD_FAILURE() << imported.error().message;
    return {};
  }
  const FloatList x{1, 2, 3, 4};
  auto outputs = run_graph(imported->graph, {{"x", Tensor::of<float>({4}, x)}});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.error().message;
    return {};
  }
  const auto y = outputs->at("y").data<float>();
  return {y.begin(), y.end()};
}

std::string refusal_of(const ModelBuilder& model) {
  auto imported = model.import();
  return imported.ok() ? "it was imported" : imported.error().message;
}

ModelBuilder four_numbers() {
  ModelBuilder m(18);
  m.input("x", {4}).output("y").weights("two", {}, {2});
  return m;
}

// A body without inputs of its own, with the output `r`.
ModelBuilder branch(const std::string& op, const std::vector<std::string>& inputs) {
  ModelBuilder b(18);
  b.output("r").node(op, inputs, {"r"});
  return b;
}

// A loop's body: i, go, v -> go, and `next` of v, and `kept`, which the loop collects.
ModelBuilder loop_body() {
  ModelBuilder b(18);
  b.input("i", {}, kInt64).input("go", {}, kBool).input("v", {4});
  b.output("go").output("next").output("kept");
  b.node("Add", {"v", "two"}, {"next"}).node("ReduceSum", {"v"}, {"kept"}, {{"keepdims", 0}});
  return b;
}

TEST(Inlining, AFunctionIsReadInThePlaceOfItsCall) {
  ModelBuilder body(18), m = four_numbers();
  body.input("a", {}).input("b", {}).output("c");
  body.node("Mul", {"a", "b"}, {"p"}).node("Sub", {"p", "a"}, {"c"});
  m.function("twice_less_once", std::move(body));
  m.call("twice_less_once", {"x", "two"}, {"h"}).call("twice_less_once", {"h", "two"}, {"y"});
  EXPECT_EQ(result_of(m), (FloatList{1, 2, 3, 4}));
}

// Sums along axis 0, from the end where the call's attribute from_end says so.
ModelBuilder with_sums() {
  ModelBuilder body(18), m = four_numbers();
  body.input("a", {}).input("axis", {}, kInt64).output("c");
  body.node("CumSum", {"a", "axis"}, {"c"}, {Attr::reference("reverse", "from_end")});
  m.function("sums", std::move(body), {"from_end"}).ints("zero", {0});
  return m;
}

TEST(Inlining, ACallsAttributesStandWhereTheBodyRefersToThem) {
  ModelBuilder given = with_sums(), left_out = with_sums();
  given.call("sums", {"x", "zero"}, {"y"}, {{"from_end", 1}});
  EXPECT_EQ(result_of(given), (FloatList{10, 9, 7, 4}));
  left_out.call("sums", {"x", "zero"}, {"y"});
  EXPECT_EQ(result_of(left_out), (FloatList{1, 3, 6, 10})) << "the operator's default";
}

TEST(Inlining, AFunctionThatCallsItselfIsRefused) {
  ModelBuilder body(18), m = four_numbers();
  body.input("a", {}).output("c").call("again", {"a"}, {"p"}).call("again", {"p"}, {"c"});
  m.function("again", std::move(body)).call("again", {"x"}, {"y"});
  EXPECT_TRUE(contains(refusal_of(m), "a function calls itself")) << refusal_of(m);
}

// Twenty functions, each of which calls the next one ten times: 10^20 nodes.
TEST(Inlining, FunctionsThatMultiplyAreRefused) {
  ModelBuilder m = four_numbers();
  for (int i = 0; i < 20; ++i) {
    ModelBuilder body(18);
    body.input("v0", {}).output("v10");
    for (int k = 0; k < 10; ++k)
      body.call("f" + std::to_string(i + 1), {"v" + std::to_string(k)},
                {"v" + std::to_string(k + 1)});
    m.function("f" + std::to_string(i), std::move(body));
  }
  m.function("f20", [] {
    ModelBuilder leaf(18);
    leaf.input("a", {}).output("b").node("Relu", {"a"}, {"b"});
    return leaf;
  }());
  m.call("f0", {"x"}, {"y"});
  EXPECT_TRUE(contains(refusal_of(m), "come to too many nodes")) << refusal_of(m);
}

TEST(Inlining, AnUnsupportedNodeInAFunctionIsNamedWithTheFunction) {
  ModelBuilder body(18), m = four_numbers();
  body.input("a", {}).output("c").node("Frobnicate", {"a"}, {"c"});
  m.function("layer", std::move(body)).call("layer", {"x"}, {"h"}).node("Relu", {"h"}, {"y"});
  EXPECT_TRUE(contains(refusal_of(m), "function 'layer': node 'Frobnicate_1' (Frobnicate)"));
  EXPECT_FALSE(contains(refusal_of(m), "problems")) << "one problem, said once: " << refusal_of(m);
}

TEST(Inlining, AKnownConditionTakesItsBranch) {
  for (const bool is_then : {true, false}) {
    ModelBuilder m = four_numbers();
    m.weights("size", {}, {is_then ? 1.0f : 0.0f}).node("Cast", {"size"}, {"c"}, {{"to", kBool}});
    // The branches read values of the graph around them, one of which comes later in the file.
    m.node("If", {"c"}, {"y"},
           {{"then_branch", branch("Add", {"later", "two"}).graph()},
            {"else_branch", branch("Frobnicate", {"x"}).graph()}});
    m.node("Neg", {"x"}, {"later"});
    if (is_then)
      EXPECT_EQ(result_of(m), (FloatList{1, 0, -1, -2}));
    else
      EXPECT_TRUE(contains(refusal_of(m), "(Frobnicate)")) << refusal_of(m);
  }
}

TEST(Inlining, AConditionOfRunTimeTakesTensorsOfOneTypeAlone) {
  ModelBuilder m = four_numbers();
  m.input("c", {}, kBool)
      .node("If", {"c"}, {"y"},
            {{"then_branch", branch("Neg", {"x"}).graph()},
             {"else_branch", branch("Shape", {"x"}).graph()}});
  EXPECT_TRUE(contains(refusal_of(m),
                       "the condition is known only at run time, and its branches give float32[4] "
                       "and int64[1]"))
      << refusal_of(m);
}

TEST(Inlining, ALoopOfKnownLengthIsUnrolled) {
  ModelBuilder m = four_numbers(), collected = four_numbers();
  m.ints("trips", {3})
      .node("Loop", {"trips", "", "x"}, {"y", "kept"}, {{"body", loop_body().graph()}});
  EXPECT_EQ(result_of(m), (FloatList{7, 8, 9, 10}));
  collected.ints("trips", {3})
      .node("Loop", {"trips", "", "x"}, {"last", "y"}, {{"body", loop_body().graph()}});
  EXPECT_EQ(result_of(collected), (FloatList{10, 18, 26}));
}

TEST(Inlining, AnEndlessLoopIsRefused) {
  ModelBuilder m = four_numbers();
  m.ints("trips", {INT64_MAX})
      .node("Loop", {"trips", "", "x"}, {"y", "kept"}, {{"body", loop_body().graph()}});
  EXPECT_TRUE(contains(refusal_of(m), "come to too many nodes")) << refusal_of(m);
}

TEST(Inlining, AScanReadsAndWritesItsAxisInTheWantedDirection) {
  ModelBuilder body(18), m = four_numbers();
  body.input("sum", {}).input("part", {}).output("next").output("out");
  body.node("Add", {"sum", "part"}, {"next"}).node("Identity", {"next"}, {"out"});
  m.weights("start", {}, {0})
      .node("Scan", {"start", "x"}, {"total", "y"},
            {{"body", body.graph()},
             {"num_scan_inputs", 1},
             {"scan_input_directions", std::vector<int64_t>{1}}});
  EXPECT_EQ(result_of(m), (FloatList{4, 7, 9, 10}));
}

TEST(Inlining, SequencesFoldAway) {
  ModelBuilder m = four_numbers();
  m.ints("one", {1}).ints("last", {-1}).ints("sizes", {1, 3});
  m.node("SplitToSequence", {"x", "sizes"}, {"parts"}, {{"axis", 0}})
      .node("SequenceAt", {"parts", "last"}, {"three"})
      .node("SequenceInsert", {"parts", "three", "one"}, {"longer"})
      .node("SequenceErase", {"longer"}, {"shorter"})
      .node("SequenceInsert", {"shorter", "x"}, {"all"})
      .node("ConcatFromSequence", {"all"}, {"y"}, {{"axis", 0}});
  EXPECT_EQ(result_of(m), (FloatList{1, 2, 3, 4, 1, 2, 3, 4}));
}

TEST(Inlining, ASequenceIsNoTensor) {
  ModelBuilder operand = four_numbers(), output = four_numbers();
  operand.node("SequenceConstruct", {"x", "x"}, {"s"}).node("Relu", {"s"}, {"y"});
  EXPECT_TRUE(contains(refusal_of(operand), "input 0 is a sequence")) << refusal_of(operand);
  output.node("SequenceConstruct", {"x", "x"}, {"y"});
  EXPECT_TRUE(contains(refusal_of(output), "output 'y' is a sequence")) << refusal_of(output);
}

TEST(Inlining, AnOutputThatIsAnInputKeepsBothNames) {
  ModelBuilder m = four_numbers();
  m.ints("zero", {0})
      .node("SequenceConstruct", {"x"}, {"s"})
      .node("SequenceAt", {"s", "zero"}, {"y"});
  EXPECT_EQ(result_of(m), (FloatList{1, 2, 3, 4}));
}

}  // namespace
}  // namespace enginery::test
