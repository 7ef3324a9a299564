// Network files: what is saved comes back the same, and what is broken is refused with a reason.
#include "engine/import/saved/network_file.h"

#include <gtest/gtest.h>

#include "engine/graph/text.h"
#include "tests/engine/import/model_builder.h"

namespace enginery::test {
namespace {

// An absent input, two outputs of one layer, symbols, a scalar, a boolean, data beyond 16 elements.
constexpr char kMixedGraph[] =
    "graph mixed {\n"
    "input %x : float32[Nx4x?]\n"
    "input %\"odd name, 1\" : float32[4x6]\n"
    "%c = constant boolean[1] { 1 }\n"
    "%s = constant float32[] { 2.5 }\n"
    "%z = constant int64[2] { 8, 8 }\n"
    "%w = constant float32[6x6] random(3)\n"
    "%m = matmul(%\"odd name, 1\", %w)\n"
    "%a, %b = split(%m) axis=1 sizes=[2,4]\n"
    "%k = select(%c, %a, %s)\n"
    "%t = resize(%b, _, %z) mode=linear\n"
    "%r = act(%x) kind=leaky_relu alpha=0.1\n"
    "output %k\n"
    "output %r\n"
    "output %t\n"
    "}\n";

Graph mixed_graph() {
  auto graph = parse_graph(kMixedGraph);
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  graph->node(0).name = "a layer's own name";
  const ValueId k = graph->outputs()[0];  // the text form has no commas in attributes
  const auto sums = graph->add_node("e", Einsum{"ij,ij->i"}, {k, k});
  EXPECT_TRUE(sums.ok() && graph->mark_output(sums->front()).ok());
  return *graph;
}

Bytes saved(const Graph& graph) {
  auto bytes = save_network(graph);
  EXPECT_TRUE(bytes.ok()) << bytes.error().message;
  return *bytes;
}

Result<ImportedModel> import_file(Bytes bytes, const ImportOptions& options = {}) {
  return import_model(ModelSource{"any.name", std::move(bytes), std::nullopt}, options);
}

void expect_same(const Graph& got, const Graph& wanted) {
  EXPECT_EQ(to_text(got), to_text(wanted));
  EXPECT_EQ(fingerprint(got), fingerprint(wanted));
  ASSERT_EQ(got.node_count(), wanted.node_count());
  for (NodeId n = 0; n < wanted.node_count(); ++n) EXPECT_EQ(got.node(n).name, wanted.node(n).name);
}

TEST(NetworkFile, GivesBackWhatWasSaved) {
  const Graph graph = mixed_graph();
  const auto imported = import_file(saved(graph));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  expect_same(imported->graph, graph);
  EXPECT_EQ(saved(imported->graph), saved(graph));
}

TEST(NetworkFile, GivesBackAnImportedModel) {
  const auto model = small_convolution().import();
  ASSERT_TRUE(model.ok());
  const auto imported = import_file(saved(model->graph));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  expect_same(imported->graph, model->graph);
}

TEST(NetworkFile, GivesBackSizesThatARunTells) {
  ModelBuilder found(13);
  found.input("x", {2, 3}).output("y").node("NonZero", {"x"}, {"y"});
  const auto model = found.import();
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto imported = import_file(saved(model->graph));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  expect_same(imported->graph, model->graph);
  EXPECT_EQ(imported->graph.run_time_sizes, (RunTimeSizes{{0, 1, 1}}));
  const Bytes whole = saved(model->graph);
  for (const char* wrong : {"[[0,1,0]]", "[[0,2,1]]", "[[0,-1,1]]", "[[9,1,1]]", "[[0,1,9]]",
                            "[[-1,1,1]", "[[0.5,1,1", "[[[],1,1]"}) {
    Bytes changed = whole;
    const size_t at = changed.find("[[0,1,1]]");
    ASSERT_NE(at, Bytes::npos);
    std::string text = wrong;
    text.resize(9, ']');
    changed.replace(at, 9, text);
    EXPECT_FALSE(import_file(changed).ok()) << wrong;
  }
}

// A pass may put a producer behind its reader.
TEST(NetworkFile, OrdersLayersThatStandBehindTheirReaders) {
  auto graph = parse_graph(
      "graph g { input %x : float32[2] %a = act(%x) %b = act(%x) kind=tanh output %b }");
  ASSERT_TRUE(graph.ok());
  graph->node(0).inputs = {graph->node(1).outputs[0]};
  graph->set_output(0, graph->node(0).outputs[0]);
  const auto imported = import_file(saved(*graph));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->graph.node(0).name, "b");
}

TEST(NetworkFile, TakesShapesAndValues) {
  ImportOptions options;
  options.shapes = {{"x", {7, 4, 9}}};
  const auto sized = import_file(saved(mixed_graph()), options);
  ASSERT_TRUE(sized.ok()) << sized.error().message;
  EXPECT_EQ(sized->graph.value(sized->graph.outputs()[1]).type.dims, (Dims{7, 4, 9}));
  options.shapes.clear();
  options.default_symbols_to_one = true;
  const auto ones = import_file(saved(mixed_graph()), options);
  ASSERT_TRUE(ones.ok());
  EXPECT_EQ(ones->notes, (std::vector<std::string>{"x: N = 1", "x: ? = 1"}));
  options.values = {{"odd name, 1", convert(Tensor::of<float>({4, 6}, std::vector<float>(24, 2)),
                                            DataType::float32)}};
  const auto constant = import_file(saved(mixed_graph()), options);
  ASSERT_TRUE(constant.ok()) << constant.error().message;
  EXPECT_EQ(constant->graph.inputs().size(), 1u);
  options.values = {{"odd name, 1", Tensor::scalar(int64_t{1})}};
  const auto wrong = import_file(saved(mixed_graph()), options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_TRUE(contains(wrong.error().message, "of another type")) << wrong.error().message;
}

TEST(NetworkFile, IsSurveyedAndPackedAsItIs) {
  const Bytes bytes = saved(mixed_graph());
  const auto survey = survey_model({"n", bytes, std::nullopt});
  ASSERT_TRUE(survey.ok());
  EXPECT_EQ(survey->operators.at("matmul").nodes, 1);
  EXPECT_EQ(survey->operators.size(), 6u);
}

TEST(NetworkFile, RefusesNamesThatAreNoText) {
  Graph graph;
  ASSERT_TRUE(graph.mark_output(graph.add_input("\xff", {DataType::float32, {1}})).ok());
  const auto bytes = save_network(graph);
  ASSERT_FALSE(bytes.ok());
  EXPECT_TRUE(contains(bytes.error().message, "not UTF-8")) << bytes.error().message;
}

TEST(NetworkFile, RefusesAFileThatIsCutAnywhere) {
  const Bytes whole = saved(small_convolution().import()->graph);
  const size_t padding = 64;  // behind the last constant
  for (size_t n = 1; n + padding < whole.size(); ++n)
    EXPECT_FALSE(import_file(whole.substr(0, n)).ok()) << "cut after " << n;
}

Bytes file_of(const std::string& header) {
  Bytes out(kNetworkFileMagic);
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(header.size() >> (8 * byte));
  out += header;
  out.resize((out.size() + 63) / 64 * 64);
  return out + Bytes(64, '\2');
}

// A file of these records and outputs.
Bytes file_with(const std::string& records, const std::string& outputs = "[0]") {
  return file_of(R"({"name":"n","symbols":["N"],"records":[)" + records + R"(],"outputs":)" +
                 outputs + "}");
}

constexpr char kInput[] = R"({"input":"x","type":"float32","dims":[2]})";

std::string layer(const std::string& op, const std::string& inputs,
                  const std::string& attributes = "{}") {
  return std::string(kInput) + R"(,{"layer":"l","op":")" + op + R"(","attributes":)" + attributes +
         R"(,"inputs":)" + inputs + R"(,"outputs":["y"]})";
}

std::string constant(const std::string& type, const std::string& dims, const std::string& at) {
  return R"({"constant":"c","type":")" + type + R"(","dims":)" + dims + R"(,"at":)" + at + "}";
}

TEST(NetworkFile, RefusesWhatContradictsItself) {
  ASSERT_TRUE(import_file(file_with(kInput)).ok());
  const struct {
    Bytes file;
    const char* reason;
  } broken[] = {
      {file_of("{"), "not a JSON object"},
      {file_of("[]"), "not a JSON object"},
      {file_of("{}"), "key 'name' not found"},
      {file_of(R"({"name":1})"), "must be string"},
      {file_with("1"), "its header"},
      {file_with(R"({"input":"x"})"), "'type' not found"},
      {file_with(R"({"input":"x","type":"complex","dims":[2]})"), "complex"},
      {file_with(R"({"input":"x","type":"float32","dims":[2.5]})"), "expected an integer, got 2.5"},
      {file_with(R"({"input":"x","type":"float32","dims":[18446744073709551615]})"),
       "expected an integer"},
      {file_with(R"({"input":"x","type":"float32","dims":[4611686018427387904,4]})"), "input 'x'"},
      {file_with(R"({"input":"x","type":"float32","dims":[-3]})"), "symbol is not in its list"},
      {file_with(R"({"input":"x","type":"float32","dims":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]})"),
       "dims of a wrong form"},
      {file_with(kInput, "[1]"), "value 1 is used before a record makes it"},
      {file_with(kInput, "[-1]"), "an output is no value"},
      {file_with(kInput, "[-2]"), "value -2"},
      {file_with(kInput, "[]"), "output"},
      {file_with(constant("float32", "[17]", "0")), "'c': its bytes are not in the file"},
      {file_with(constant("float32", "[2]", "64")), "its bytes are not in the file"},
      {file_with(constant("float32", "[2]", "-8")), "its bytes are not in the file"},
      {file_with(constant("float32", "[-1]", "0")), "constant 'c'"},
      {file_with(constant("boolean", "[2]", "0")), "neither 0 nor 1"},
      {file_with(layer("no_such", "[0]")), "layer 'l': no operator is called 'no_such'"},
      {file_with(layer("act", "[0]", R"({"kind":"x"})")), "layer 'l': act"},
      {file_with(layer("act", "[0]", R"({"speed":"1"})")), "does not have"},
      {file_with(layer("act", "[]")), "layer 'l'"},
      {file_with(layer("act", "[1]")), "value 1 is used before"},
      {file_with(layer("act", "[0]", "[]")), "its header"},
      {file_with(layer("matmul", "[0,-1]")), "layer 'l'"},
  };
  for (const auto& [file, reason] : broken) {
    const auto imported = import_file(file);
    ASSERT_FALSE(imported.ok()) << "imported; expected: " << reason;
    EXPECT_EQ(imported.error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(contains(imported.error().message, reason)) << imported.error().message;
  }
}

}  // namespace
}  // namespace enginery::test
