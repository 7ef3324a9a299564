// Legal models that verification must let pass: what they decide at ties, look up, divide by or
// take the logarithm of is no fault of the engine. Each is built whole, profile included.
#include <random>

#include "tests/engine/compile/compile_support.h"

namespace enginery {
namespace {

using test::Build;
using test::ModelBuilder;

std::vector<float> noise(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.3f);
  std::vector<float> out(count);
  for (float& v : out) v = normal(random);
  return out;
}

void expect_builds(const ModelBuilder& model) {
  const Build build(model);
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->skipped, "");
  EXPECT_EQ(accuracy->wrong, "");
  EXPECT_LE(accuracy->worst_error, accuracy->bar);
  const auto profile = profile_content(build.content(), build.target);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->skipped, "");
}

// x -> Conv 3x3 of `channels` -> "scores", large enough that some elements are near-ties.
ModelBuilder scores(int channels, int size = 96) {
  ModelBuilder model;
  model.input("x", {1, 8, size, size});
  model.weights("w", {channels, 8, 3, 3}, noise(static_cast<size_t>(channels) * 8 * 9));
  model.node("Conv", {"x", "w"}, {"scores"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  return model;
}

TEST(LegalModels, SegmentationHeadThatEndsInArgMax) {
  ModelBuilder model = scores(19);
  model.node("ArgMax", {"scores"}, {"classes"}, {{"axis", 1}, {"keepdims", 0}}).output("classes");
  expect_builds(model);
}

TEST(LegalModels, TopKOfScores) {
  ModelBuilder model = scores(4, 48);
  model.node("Flatten", {"scores"}, {"flat"}).ints("k", {100});
  model.node("TopK", {"flat", "k"}, {"best", "where"}).output("best").output("where");
  expect_builds(model);
}

TEST(LegalModels, MaskByAThreshold) {
  ModelBuilder model = scores(3);
  model.weights("zero", {1}, {0}).node("Greater", {"scores", "zero"}, {"mask"});
  model.node("Cast", {"mask"}, {"y"}, {{"to", test::kFloat}}).output("y").output("mask");
  expect_builds(model);
}

// What a decision leads to: whole convolutions after it.
TEST(LegalModels, ConvolutionOfAMask) {
  ModelBuilder model = scores(8, 32);
  model.weights("zero", {1}, {0}).node("Greater", {"scores", "zero"}, {"mask"});
  model.node("Cast", {"mask"}, {"m"}, {{"to", test::kFloat}});
  model.node("Mul", {"m", "scores"}, {"kept"});
  model.node("Conv", {"kept", "w"}, {"y"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  model.output("y");
  expect_builds(model);
}

// x -> Q -> DQ -> Conv(weights as Q/DQ) -> Relu -> Q -> DQ, as onnxruntime.quantization writes it.
TEST(LegalModels, ConvolutionBetweenQuantizeAndDequantize) {
  ModelBuilder model;
  model.input("x", {1, 8, 48, 48}).weights("sx", {}, {0.0173f}).weights("sy", {}, {0.0391f});
  const auto quantized = [&](const std::string& from, const std::string& scale,
                             const std::string& to) {
    model.node("QuantizeLinear", {from, scale}, {to + "_q"});
    model.node("DequantizeLinear", {to + "_q", scale}, {to});
  };
  model.weights("w", {16, 8, 3, 3}, noise(16 * 8 * 9)).weights("sw", {}, {0.0101f});
  quantized("x", "sx", "xd");
  quantized("w", "sw", "wd");
  model.node("Conv", {"xd", "wd"}, {"c"}).node("Relu", {"c"}, {"r"});
  quantized("r", "sy", "y");
  model.output("y");
  expect_builds(model);
}

// A NaN of the reference's is no reason to refuse; nor is the logarithm's input made negative.
TEST(LegalModels, FunctionsOfPositiveNumbers) {
  for (const char* after : {"Relu", "Identity", "GlobalMaxPool"}) {
    SCOPED_TRACE(after);
    ModelBuilder direct, behind = scores(4, 16);
    direct.input("x", {1, 4, 9, 9}).node("Log", {"x"}, {"l"}).node(after, {"l"}, {"y"}).output("y");
    expect_builds(direct);
    // The made-up input cannot make these positive.
    behind.node("Log", {"scores"}, {"l"}).node(after, {"l"}, {"y"}).output("y");
    expect_builds(behind);
  }
}

TEST(LegalModels, IntegerDivisionByAnInput) {
  for (const char* op : {"Div", "Mod"}) {
    SCOPED_TRACE(op);
    ModelBuilder model;
    model.input("x", {4}, test::kInt64).input("n", {4}, test::kInt64);
    model.node(op, {"x", "n"}, {"y"}).output("y");
    expect_builds(model);
  }
}

TEST(LegalModels, LookUpOfShiftedIds) {
  ModelBuilder model;
  model.input("ids", {6}, test::kInt64).ints("first", {100}).weights("table", {4, 8}, noise(32));
  model.node("Sub", {"ids", "first"}, {"at"}).node("Gather", {"table", "at"}, {"y"}).output("y");
  expect_builds(model);
}

// No made-up numbers give a position that the table has: the build says so and goes on.
TEST(LegalModels, DataThatCannotBeMadeUpIsANoteOnly) {
  ModelBuilder model;
  model.input("ids", {2}, test::kInt64).input("n", {2}, test::kInt64).ints("first", {100});
  model.ints("fifty", {50}).weights("table", {4, 8}, noise(32));
  model.node("Sub", {"ids", "first"}, {"at"}).node("Mul", {"at", "n"}, {"wild"});
  model.node("Add", {"wild", "fifty"}, {"place"}).node("Gather", {"table", "place"}, {"y"});
  model.output("y");
  const Build build(model);
  const auto accuracy = build.verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_EQ(accuracy->wrong, "");
  EXPECT_TRUE(test::contains(accuracy->skipped, "--input")) << accuracy->skipped;
  const auto profile = profile_content(build.content(), build.target);
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_NE(profile->skipped, "");
  const std::vector<Tensor> real{Tensor::of<int64_t>({2}, {50, 51}),
                                 Tensor::of<int64_t>({2}, {1, 1})};
  const auto given = verify_content(build.model, build.content(), build.target, {.inputs = real});
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ(given->skipped, "");
  EXPECT_EQ(given->wrong, "");
}

// Masks and counts are computed exactly: no tie hides a mask that is wrong.
TEST(LegalModels, WholeNumbersAreNoTies) {
  ModelBuilder model;
  model.input("mask", {1, 64}, test::kInt64).input("x", {1, 64}).weights("one", {1}, {1});
  model.node("Cast", {"mask"}, {"m"}, {{"to", test::kFloat}}).node("Less", {"m", "one"}, {"off"});
  model.node("Where", {"off", "one", "x"}, {"y"}).output("y");
  expect_builds(model);
  constexpr Pass kWrong[] = {{"wrong", [](Graph& graph) -> Result<int> {
                                for (NodeId id = 0; id < graph.node_count(); ++id) {
                                  if (auto* b = std::get_if<Binary>(&graph.node(id).op))
                                    b->kind = BinaryKind::less_equal;
                                }
                                return 1;
                              }}};
  const auto accuracy = Build(model, {.skip = {}, .dump = {}, .log = {}, .list = kWrong}).verify();
  ASSERT_TRUE(accuracy.ok()) << accuracy.error().message;
  EXPECT_NE(accuracy->wrong, "");
}

// What the model rounds before it cannot be folded into the convolution; who reads that is told.
TEST(LegalModels, ABatchNormalisationBehindRoundedNumbersIsNamed) {
  const auto notes_with = [](const std::string& normalised) {
    ModelBuilder model;
    model.input("x", {1, 2, 4, 4}).weights("s", {}, {0.1f}).weights("one", {2}, {1, 1});
    model.node("QuantizeLinear", {"x", "s"}, {"q"}).node("DequantizeLinear", {"q", "s"}, {"d"});
    model.node("Relu", {"d"}, {"r"});
    model.node("BatchNormalization", {normalised, "one", "one", "one", "one"}, {"y"}).output("y");
    model.output("r");
    BuildOptions options;
    options.precisions.insert(Precision::int8);
    const auto loaded = load_model(model.source(), "net", options);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    std::string all;
    for (const std::string& note : loaded->notes) all += note + "\n";
    return all;
  };
  EXPECT_NE(notes_with("d").find("1 batch normalisations"), std::string::npos);
  EXPECT_EQ(notes_with("r").find("batch normalisations"), std::string::npos);
}

}  // namespace
}  // namespace enginery
