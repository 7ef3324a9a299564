#include "cli/local/engine_page.h"

#include <gtest/gtest.h>

namespace enginery {
namespace {

LayerInfo layer(int stream, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  LayerInfo out;
  out.stream = stream;
  out.inputs = std::move(inputs);
  out.outputs = std::move(outputs);
  return out;
}

TEST(EnginePage, ALayerStartsBehindWhatItReadsAndBehindItsStream) {
  const std::vector<LayerInfo> layers = {layer(0, {"x"}, {"a"}), layer(1, {"x"}, {"b"}),
                                         layer(0, {"a"}, {"c"}), layer(1, {"c"}, {"d"}),
                                         layer(0, {"b", "c"}, {"e"})};
  EXPECT_EQ(layer_starts_us(layers, {10, 50, 5, 1, 1}), (std::vector<double>{0, 0, 10, 50, 50}));
}

TEST(EnginePage, OfABenchNamesLayersWithoutLettingThemWriteHtml) {
  EngineInfo info;
  info.name = "net<b>";
  info.layers = {layer(0, {"x"}, {"y"})};
  info.layers[0].name = "conv<img>";
  const std::string page = bench_page(info, {{{1, 2, 3}, 0.006}, {7.5}, 500, {}});
  EXPECT_EQ(page.find("<img>"), std::string::npos);
  EXPECT_NE(page.find("conv&lt;img&gt;"), std::string::npos);
  EXPECT_NE(page.find("7.50"), std::string::npos);
  EXPECT_NE(page.find("500.0 rows a second"), std::string::npos);
  const std::string plain = bench_page(info, {{{1, 2, 3}, 0.006}, {}, 500, {}});
  EXPECT_EQ(plain.find("Timeline"), std::string::npos);
}

// Scratch memory is shown where there is any, and has no column in an engine that takes none.
TEST(EnginePage, ALayersWorkspaceIsShown) {
  EngineInfo info;
  info.layers = {layer(0, {"x"}, {"y"}), layer(0, {"y"}, {"z"})};
  const BenchFindings findings{{{1, 2, 3}, 0.006}, {7.5, 2}, 500, {}};
  EXPECT_EQ(layers_text(info, 0).find("WORKSPACE"), std::string::npos);
  EXPECT_EQ(bench_page(info, findings).find("workspace"), std::string::npos);
  info.layers[1].workspace_bytes = 3000000;
  const std::string text = layers_text(info, 0), page = bench_page(info, findings);
  EXPECT_NE(text.find("WORKSPACE"), std::string::npos) << text;
  EXPECT_NE(text.find("3.0 MB"), std::string::npos) << text;
  EXPECT_EQ(text.find("0 B"), std::string::npos) << "nothing for a layer without one: " << text;
  EXPECT_NE(page.find("<th class=\"r\">workspace"), std::string::npos);
  EXPECT_NE(page.find("3.0 MB</td>"), std::string::npos);
  EXPECT_NE(page.find("workspace 3.0 MB"), std::string::npos) << "in the layer's box";
}

}  // namespace
}  // namespace enginery
