// The models of the shared folder, where it is there: expectations were computed with ONNX
// Runtime 1.31.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/import/importer.h"
#include "tests/support/reference_executor.h"

namespace enginery {
namespace {

std::filesystem::path shared_folder() {
  const char* folder = std::getenv("ENGINERY_SHARED");
  return folder ? std::filesystem::path(folder)
                : std::filesystem::path(ENGINERY_SOURCE_DIR) / "../shared";
}

// Values with structure, the same in any language: 60 sin(i / 100) + 20 cos(i / 7).
Tensor waves(Dims dims, float scale) {
  Tensor t(DataType::float32, std::move(dims));
  auto data = t.mutable_data<float>();
  for (size_t i = 0; i < data.size(); ++i) {
    double x = static_cast<double>(i);
    data[i] = scale * static_cast<float>(60 * std::sin(x / 100) + 20 * std::cos(x / 7));
  }
  return t;
}

class RealModels : public testing::Test {
 protected:
  std::filesystem::path model(const char* file) { return shared_folder() / "models" / file; }
  bool missing(const char* file) { return !std::filesystem::exists(model(file)); }
};

TEST_F(RealModels, SqueezeNetKeepsItsSymbolicBatch) {
  if (missing("squeezenet1.1.onnx")) GTEST_SKIP() << "no shared models";
  auto imported = import_model(model("squeezenet1.1.onnx"));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.symbols, std::vector<std::string>{"N"});
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.dims, (Dims{-2, 1000}));
  EXPECT_EQ(graph.live_node_count(), 66);
}

TEST_F(RealModels, SqueezeNetComputesWhatOnnxRuntimeDoes) {
  if (missing("squeezenet1.1.onnx")) GTEST_SKIP() << "no shared models";
  auto imported = import_model(model("squeezenet1.1.onnx"), {.default_symbols_to_one = true});
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  EXPECT_EQ(imported->notes, std::vector<std::string>{"data: N = 1"});
  auto outputs = test::run_graph(imported->graph, {{"data", waves({1, 3, 227, 227}, 1)}});
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  auto prob = outputs->at("prob").data<float>();
  ASSERT_EQ(prob.size(), 1000u);
  EXPECT_NEAR(prob[905], 0.08357782f, 1e-5f);
  EXPECT_NEAR(prob[904], 0.02641967f, 1e-5f);
  EXPECT_NEAR(prob[753], 0.01141193f, 1e-5f);
}

TEST_F(RealModels, Rfb320HasOneInputAndNoShapeArithmetic) {
  if (missing("rfb320.onnx")) GTEST_SKIP() << "no shared models";
  auto imported = import_model(model("rfb320.onnx"));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  const Graph& graph = imported->graph;
  ASSERT_EQ(graph.inputs().size(), 1u);
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "input");
  for (NodeId id = 0; id < graph.node_count(); ++id) EXPECT_NE(op_name(graph.node(id).op), "shape");
  EXPECT_EQ(to_string(graph.value(graph.outputs()[0]).type), "float32[1x4420x2]");
  EXPECT_EQ(to_string(graph.value(graph.outputs()[1]).type), "float32[1x4420x4]");
}

TEST_F(RealModels, Rfb320ComputesWhatOnnxRuntimeDoes) {
  if (missing("rfb320.onnx")) GTEST_SKIP() << "no shared models";
  auto imported = import_model(model("rfb320.onnx"));
  ASSERT_TRUE(imported.ok()) << imported.error().message;
  auto outputs = test::run_graph(imported->graph, {{"input", waves({1, 3, 240, 320}, 1.0f / 80)}});
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  auto scores = outputs->at("scores").data<float>(), boxes = outputs->at("boxes").data<float>();
  EXPECT_NEAR(scores[2 * 0 + 1], 0.07018379f, 1e-5f);
  EXPECT_NEAR(scores[2 * 1000 + 1], 0.05161909f, 1e-5f);
  EXPECT_NEAR(scores[2 * 4419 + 1], 0.03709270f, 1e-5f);
  const float middle[] = {0.31412828f, 0.25682363f, 0.36145842f, 0.31138822f};
  const float last[] = {0.55005932f, 0.40558934f, 1.21550357f, 1.26099908f};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(boxes[4 * 1000 + i], middle[i], 1e-5f);
    EXPECT_NEAR(boxes[4 * 4419 + i], last[i], 1e-5f);
  }
}

}  // namespace
}  // namespace enginery
