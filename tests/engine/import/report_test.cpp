// What the user reads when a model cannot be imported.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

using testing::Test;

std::string message_of(const ModelBuilder& model, ErrorCode code = ErrorCode::unsupported) {
  auto imported = model.import();
  if (imported.ok()) return "it was imported";
  EXPECT_EQ(to_string(imported.error().code), std::string(to_string(code)))
      << imported.error().message;
  return imported.error().message;
}

TEST(ImportReport, NamesFileNodeOperatorAttributesShapesAndReason) {
  ModelBuilder m;
  m.input("x", {"N", 3})
      .output("y")
      .node("Frobnicate", {"x"}, {"y"}, {{"strength", 7}, {"mode", "fast"}});
  std::string message = message_of(m);
  for (const char* part :
       {"import test.onnx", "node 'Frobnicate_1' (Frobnicate)", "strength=7", "mode=fast",
        "float32[Nx3]", "operator set 13", "the operator is not supported"}) {
    EXPECT_TRUE(contains(message, part)) << part << " is missing in: " << message;
  }
}

TEST(ImportReport, ListsEveryUnsupportedNodeAtOnce) {
  ModelBuilder m;
  m.input("x", {1, 3}).output("z").output("u");
  m.node("First", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Second", {"b"}, {"z"});
  m.node("MaxPool", {"x"}, {"q"}, {{"dilations", std::vector<int64_t>{1}}})
      .node("Third", {"x"}, {"u"});
  std::string message =
      message_of(m, ErrorCode::invalid_argument);  // MaxPool without a kernel breaks ONNX's rules
  EXPECT_TRUE(contains(message, "4 problems")) << message;
  for (const char* part : {"(First)", "(Second)", "(Third)", "kernel_shape"})
    EXPECT_TRUE(contains(message, part)) << message;
  EXPECT_FALSE(contains(message, "(Relu)"))
      << "a node that waits for an unsupported one has no problem of its own: " << message;
}

TEST(ImportReport, ASurveyCountsWhatIsNotSupportedAndWhatHangsOnIt) {
  ModelBuilder body(18), m(18);
  body.input("a", {}).output("c").node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"c"});
  m.input("x", {1, 3}).output("y").output("z").function("twice", std::move(body));
  m.call("twice", {"x"}, {"h"}).node("First", {"h"}, {"p"}).node("First", {"x"}, {"q"});
  m.node("Add", {"p", "q"}, {"y"}).node("Relu", {"h"}, {"z"});
  const auto survey = survey_model(m.source());
  ASSERT_TRUE(survey.ok()) << survey.error().message;
  EXPECT_EQ(survey->operators.size(), 3u);
  EXPECT_EQ(survey->operators.at("Relu").nodes, 3) << "two of them in the function";
  EXPECT_EQ(survey->operators.at("Relu").unsupported, 0);
  EXPECT_EQ(survey->operators.at("First").unsupported, 2);
  EXPECT_EQ(survey->operators.at("First").reason, "the operator is not supported");
  EXPECT_EQ(survey->unchecked, 1) << "the sum of both";
  EXPECT_EQ(survey->problems.size(), 2u);
}

TEST(ImportReport, ASurveyOfABrokenFileIsAnError) {
  EXPECT_FALSE(survey_model(ModelSource{"broken.onnx", "\x08\x07 nothing", std::nullopt}).ok());
}

TEST(ImportReport, AnAttributeThatNothingReadsIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 3}).output("y").node("Relu", {"x"}, {"y"}, {{"surprise", 1}});
  EXPECT_TRUE(contains(message_of(m), "attribute surprise is not supported"));
}

TEST(ImportReport, AnInputThatNothingReadsIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 3}).input("extra", {1}).output("y").node("Relu", {"x", "extra"}, {"y"});
  EXPECT_TRUE(contains(message_of(m), "its input 1 is not supported"));
}

TEST(ImportReport, AnOutputThatIsUsedAndNotMadeIsRefused) {
  ModelBuilder m;
  m.input("x", {1, 1, 4, 4}).output("y").output("other");
  m.node("Relu", {"x"}, {"y", "other"});
  EXPECT_TRUE(contains(message_of(m), "its output 1 'other' is not supported"));
}

// As PyTorch writes a tensor that a model gives twice (T5Gemma, FLAVA).
TEST(ImportReport, AnOutputThatIsListedTwiceIsGivenOnce) {
  ModelBuilder m;
  m.input("x", {1}).output("y").output("z").output("y");
  m.node("Relu", {"x"}, {"y"}).node("Neg", {"x"}, {"z"});
  const auto imported = m.import();
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->graph.outputs().size(), 2u);
  EXPECT_EQ(imported->notes, (std::vector<std::string>{"output 'y' is listed twice, given once"}));
}

TEST(ImportReport, AnOutputThatNothingUsesDoesNotMatter) {
  ModelBuilder m;
  m.input("x", {1, 1, 4, 4}).output("y");
  m.node("MaxPool", {"x"}, {"y", "indices"}, {{"kernel_shape", std::vector<int64_t>{2, 2}}});
  auto imported = m.import();
  EXPECT_TRUE(imported.ok()) << imported.error().message;
}

TEST(ImportReport, AForeignDomainIsNamed) {
  ModelBuilder m;
  m.input("x", {1, 3}).output("y").node("Relu", {"x"}, {"y"});
  m.graph().mutable_node(0)->set_domain("com.example");
  EXPECT_TRUE(contains(message_of(m), "(com.example.Relu)"));
}

TEST(ImportReport, ASubgraphWithoutOutputsIsAnErrorNotACrash) {
  ModelBuilder m;
  m.input("c", {}, kBool).output("y").node("If", {"c"}, {"y"});
  auto* attribute = m.graph().mutable_node(0)->add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name("then");
  EXPECT_TRUE(contains(message_of(m, ErrorCode::invalid_argument), "its branch has 0 outputs"));
}

TEST(ImportReport, ShapeRulesSpeakWithTheNodesName) {
  ModelBuilder m;
  m.input("a", {1, 3}).input("b", {1, 4}).output("y").node("Add", {"a", "b"}, {"y"});
  std::string message = message_of(m, ErrorCode::invalid_argument);
  EXPECT_TRUE(contains(message, "node 'Add_1' (Add)") &&
              contains(message, "float32[1x3], float32[1x4]"))
      << message;
}

TEST(ImportReport, GarbledNamesCannotGarbleATerminal) {
  ModelBuilder m;
  m.input("x", {1}).output("y").node("Relu", {"x"}, {"y"});
  m.graph().mutable_node(0)->set_name("bell\a\x1b[31m");
  std::string message = message_of(m, ErrorCode::invalid_argument);
  EXPECT_FALSE(contains(message, "\a") || contains(message, "\x1b")) << message;
  m.graph().mutable_node(0)->set_name("not utf-8 \xff\xfe");
  EXPECT_TRUE(contains(message_of(m, ErrorCode::invalid_argument), "not printable UTF-8"));
}

TEST(ImportReport, OperatorSetsBeyondTheKnownAreRefused) {
  ModelBuilder m(25);
  m.input("x", {1}).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_TRUE(contains(message_of(m), "operator set 25"));
}

}  // namespace
}  // namespace enginery::test
